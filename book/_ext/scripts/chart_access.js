// Charts by keyboard and by ear, on top of vega-embed: a menu that has a name and obeys any key, and words that are told.
(function () {
  const embed = window.vegaEmbed;
  async function accessible(element, spec, options) {
    const result = await embed(element, spec, { i18n: { CLICK_TO_VIEW_ACTIONS: "Save this chart" }, ...options });
    const figure = result.view.container().closest(".vega-embed");
    nameMenu(figure, result.view);
    keepLabels(figure);
    tellChanges(figure, result.view);
    return result;
  }
  window.vegaEmbed = Object.assign(accessible, embed);

  // vega-embed makes the file when a mouse button goes down: the Enter key saved an empty one.
  function nameMenu(figure, view) {
    const menu = figure.querySelector("details");
    menu?.querySelector("summary").setAttribute("aria-label", menu.title);
    menu?.querySelectorAll("a[download]").forEach((link) => (link.onclick = (event) => save(event, view)));
  }
  async function save(event, view) {
    event.preventDefault();
    const file = Object.assign(document.createElement("a"), { download: event.currentTarget.download });
    file.href = await view.toImageURL(file.download.split(".").pop());
    file.click();
  }

  // Vega labels a title when it is drawn, and keeps that label when the title says something else.
  function keepLabels(figure) {
    const relabel = () => titles(figure).forEach((title) => title.setAttribute("aria-label", read(title)));
    relabel();
    new MutationObserver(relabel).observe(figure, { characterData: true, childList: true, subtree: true });
  }

  // What a control changes in the sentences of a chart is told to those who do not see it.
  function tellChanges(figure, view) {
    const status = Object.assign(document.createElement("p"), { className: "visually-hidden" });
    status.setAttribute("role", "status");
    figure.append(status);
    let known = sentences(figure);
    figure.addEventListener("change", async function () {
      await view.runAsync();
      const now = sentences(figure);
      status.textContent = now.filter((sentence) => !known.includes(sentence)).join(" ");
      known = now;
    });
  }

  const titles = (figure) => [...figure.querySelectorAll("[aria-roledescription='title']")];
  // A text that says more to the ear than to the eye describes a number: all of them would be too much to hear at once.
  const texts = (figure) => [...figure.querySelectorAll("[aria-roledescription='text mark']")].filter(isSentence);
  const isSentence = (text) => squeezed(text.getAttribute("aria-label")) === squeezed(text.textContent);
  const squeezed = (words) => words.replace(/\s/g, "");
  const sentences = (figure) => [...titles(figure), ...texts(figure)].map(read).map((words) => words.replace(/[.!?]*$/, "."));
  // The words of an element, whose lines stand in an element each.
  function read(element) {
    const lines = [element, ...element.querySelectorAll("*")].filter((part) => !part.children.length);
    return lines.map((line) => line.textContent.trim()).join(" ").trim();
  }

  // Escape closes an open menu, and a tooltip that covers something.
  document.addEventListener("keydown", function (event) {
    if (event.key !== "Escape") return;
    document.querySelectorAll(".vg-tooltip.visible").forEach((tooltip) => tooltip.classList.remove("visible"));
    document.querySelectorAll(".vega-embed details[open]").forEach((menu) => menu.removeAttribute("open"));
  });
})();
