"""Front-end files from `book/_ext/vendor`, each on the pages that need it and on no other."""

import json
from pathlib import Path

import altair
from sphinx.application import Sphinx

EXT = Path(__file__).parents[1]
VEGA = ("vega/vega.min.js", "vega/vega-lite.min.js", "vega/vega-embed.min.js", "chart_theme.js", "chart_access.js")
# Altair fetches Vega from the network unless this names the versions that it wants as loaded.
LOADED = json.dumps(
    {
        "vega_version": altair.VEGA_VERSION,
        "vegalite_version": altair.VEGALITE_VERSION,
        "vegaembed_version": altair.VEGAEMBED_VERSION,
    }
)


def connect(app: Sphinx) -> None:
    # Added here, after jupyter-book put every script of its static folders on every page.
    app.config.html_static_path += [str(EXT / "vendor"), str(EXT / "scripts")]
    app.connect("html-page-context", add_scripts)
    app.connect("html-page-context", drop_repeated_scripts, priority=900)


def add_scripts(app: Sphinx, pagename, templatename, context, doctree) -> None:
    """Vega where there is a chart, what require.js needs where there is a widget.

    Sphinx orders by priority: require.js and html-manager stand at 500.
    """
    body = context.get("body") or ""
    chart, widget = "vegaEmbed" in body, "application/vnd.jupyter.widget" in body
    if chart:
        for path in VEGA:
            app.add_js_file(path, priority=100)
        app.add_js_file(None, body=f"window.VEGA_DEBUG = {LOADED};", priority=101)
    if widget:
        app.add_js_file("icons.js", priority=50)
    if chart or widget:
        app.add_js_file("local_modules.js", priority=900)


def drop_repeated_scripts(app: Sphinx, pagename, templatename, context, doctree) -> None:
    """jupyter-book initialises the builder twice, which repeats every inline script."""
    seen: set[str] = set()
    scripts = context.get("script_files", [])
    kept = []
    for script in scripts:
        body = getattr(script, "attributes", {}).get("body")
        if body is None or body not in seen:
            kept.append(script)
        seen.add(body)
    scripts[:] = kept
