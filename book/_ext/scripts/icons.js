// Before require.js and html-manager: each of html-manager's modules finds its icon fonts beside the vendored file.
// A module's address is made from its name; the second one's name ends where the folder of the first begins.
(function () {
  const folder = new URL("html-manager", document.currentScript.src).href;
  window.__jupyter_widgets_assets_path__ = folder + "/";
  window.require = {
    paths: { "@jupyter-widgets/html-manager/dist": folder, "@jupyter-widgets/html-manager": folder + "/index" },
  };
})();
