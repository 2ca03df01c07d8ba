"""Every view in light and dark, at desktop and phone size: axe finds nothing to complain about."""

import pytest

import needs

needs.package("playwright")
axe = needs.package("axe_playwright_python.sync_playwright")

VIEWS = """() => Array.from(document.querySelectorAll('a[href^="#/"]'), (a) => a.hash)"""


@pytest.fixture(scope="module")
def routes(solver):
    """Every address that the page links to, found by following the links."""
    found, left = [], ["#/"]
    while left:
        route = left.pop()
        solver.evaluate("(route) => { location.hash = route; }", route)
        solver.wait_for_timeout(50)
        links = {link.partition("?")[0] for link in solver.evaluate(VIEWS)}
        left += sorted(links - set(found) - set(left))
        found += sorted(links - set(found))
    return found


def test_there_are_views(routes):
    for name in ("#/play", "#/step", "#/explain/"):
        assert any(route.startswith(name) for route in routes), routes


@pytest.mark.parametrize(
    "look",
    [{"size": (1280, 800)}, {"size": (390, 844)}, {"dark": True}],
    ids=["desktop", "phone", "dark"],
)
def test_axe_finds_nothing(open_lab, routes, look):
    page, wrong = open_lab("", **look), []
    for route in routes:
        page.evaluate("(route) => { location.hash = route; }", route)
        page.wait_for_timeout(300)
        for problem in axe.Axe().run(page).response["violations"]:
            where = [node["html"][:120] for node in problem["nodes"]][:3]
            wrong.append(f"{route}: {problem['id']}: {problem['help']}: {where}")
    assert not wrong, "\n".join(wrong)
