// After the vendored scripts: whoever asks for them by a module name or by MathJax 2's interface gets the local copy.
(function () {
  const amd = typeof define === "function" && define.amd;
  if (amd && window.vegaEmbed) {
    // Where require.js is on the page (widgets), Altair asks it for Vega instead of using the global.
    define("vega", [], () => window.vega);
    define("vega-lite", [], () => window.vegaLite);
    define("vega-embed", [], () => window.vegaEmbed);
  }
  document.addEventListener("DOMContentLoaded", function () {
    // html-manager speaks MathJax 2, the pages load MathJax 3.
    if (window.MathJax && !window.MathJax.Hub) {
      window.MathJax.Hub = { Queue: (job) => window.MathJax.typesetPromise?.([job[2]]) };
    }
  });
})();
