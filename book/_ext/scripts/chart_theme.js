// Charts as vectors in the colours of the page, light or dark: text and lines take the CSS colour that surrounds them.
(function () {
  const text = { labelColor: "currentColor", titleColor: "currentColor" };
  const lines = { domainColor: "currentColor", tickColor: "currentColor", gridColor: "#80808040" };
  const config = {
    background: "transparent",
    axis: { ...text, ...lines },
    header: text,
    legend: text,
    title: { color: "currentColor", subtitleColor: "currentColor" },
    view: { stroke: "#80808040" },
    text: { color: "currentColor" },
    rule: { color: "currentColor" },
  };
  const defaults = {
    renderer: "svg",
    actions: { export: true, source: false, compiled: false, editor: false },
    config,
  };
  const embed = window.vegaEmbed;
  // What a chart says for itself wins: its own configuration is merged over this one.
  window.vegaEmbed = Object.assign((element, spec, options) => embed(element, spec, { ...defaults, ...options }), embed);
})();
