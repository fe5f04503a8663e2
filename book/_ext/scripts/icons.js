// Before require.js and html-manager: both of html-manager's modules find their icon fonts beside the vendored file.
(function () {
  const folder = new URL("html-manager", document.currentScript.src).href;
  window.__jupyter_widgets_assets_path__ = folder + "/";
  window.require = { paths: { "@jupyter-widgets/html-manager/dist": folder } };
})();
