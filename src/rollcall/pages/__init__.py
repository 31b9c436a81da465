"""HTML report in one self-contained file, with tables that sort and filter and two charts.

It is not where a report is computed or worded: `Page` holds the sentences and cells. Text from logs
is untrusted. It is embedded as JSON and added to the page with `textContent`, never parsed as HTML.
The Content-Security-Policy of the page allows its own two scripts only, and no requests.

    page        `Page` and `render`
    page.html   template
    page.css    styles, for screen (light and dark) and print
    page.js     table and charts
    chart.js    Chart.js 4.6.1, MIT licence (chart.js.LICENSE), without its source map line
"""

from rollcall.pages.page import Page, render

__all__ = ["Page", "render"]
