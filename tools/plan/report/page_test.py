"""Opens pages of `weft plan report` in Chromium without a screen, as people do: page_test.py [--pictures DOCS]
--programs PROGRAM...

With --pictures it also writes the pictures that documents show, into the folder pictures/ beside each.
"""

import base64
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest

from selenium import webdriver
from selenium.webdriver import ActionChains, Keys
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By

CHROMIUM, DRIVER = "/usr/bin/chromium", "/usr/bin/chromedriver"
MOST_BYTES = 5_000_000
# Roles that a person meets by name.
NAMED = {"button", "link", "image", "img", "table", "searchbox", "region", "navigation", "group"}

PROGRAMS = {}
PICTURES = None


def run(program, *arguments, cwd=None):
    done = subprocess.run([PROGRAMS[program], *arguments], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    if done.returncode != 0:
        raise AssertionError("%s %s: %s" % (program, " ".join(arguments), done.stdout))


class Browser:
    """One Chromium for all tests: it takes longer to begin than a page to open."""

    def __init__(self, folder):
        for program in (CHROMIUM, DRIVER):
            if not os.path.exists(program):
                raise AssertionError("%s: expected, found none: run tools/setup" % program)
        options = Options()
        options.binary_location = CHROMIUM
        for argument in ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                         "--user-data-dir=" + os.path.join(folder, "profile"), "--window-size=1280,900"]:
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(service=Service(DRIVER), options=options)

    def open(self, path, dark=False):
        """Opens the page; milliseconds until all of it is there."""
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
                    {"name": "prefers-reduced-motion", "value": "reduce"}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": 1280, "height": 900, "deviceScaleFactor": 1, "mobile": False})
        self.driver.get("about:blank")
        self.driver.get("file://" + path)
        while True:
            errors = self.errors()
            if errors:
                raise AssertionError("%s: %s" % (path, errors))
            ready = self.script("return document.documentElement.dataset.ready")
            if ready:
                return int(ready)
            time.sleep(0.02)

    def script(self, text, *arguments):
        return self.driver.execute_script(text, *arguments)

    def errors(self):
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]

    def one(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def button(self, section, text):
        (button,) = [it for it in self.all("#%s button" % section) if it.text == text]
        self.script("arguments[0].scrollIntoView({block: 'center'})", button)
        return button

    def point(self, element, x, y):
        """Moves the pointer to a part of an element, 0 to 1 across and down."""
        self.script("arguments[0].scrollIntoView({block: 'center'})", element)
        size = element.size
        ActionChains(self.driver, duration=10).move_to_element_with_offset(
            element, int((x - 0.5) * size["width"]), int((y - 0.5) * size["height"])).perform()

    def picture(self, name, first, last=None, pad=14):
        """Of what is between two elements, for the documents: "howto/step" is pictures/step.png of the folder howto."""
        if PICTURES is None:
            return
        self.script("scrollTo(0, 0); Elements.hideHint(); document.activeElement.blur()")
        box = self.script("""
            const [a, b] = [arguments[0].getBoundingClientRect(), arguments[1].getBoundingClientRect()];
            return [scrollX + Math.min(a.left, b.left), scrollY + a.top, Math.max(a.right, b.right) - Math.min(a.left, b.left), b.bottom - a.top];
            """, first, last or first)
        clip = {"x": box[0] - pad, "y": box[1] - pad, "width": box[2] + 2 * pad, "height": box[3] + 2 * pad, "scale": 1}
        shot = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png", "captureBeyondViewport": True, "clip": clip})
        folder, name = name.split("/")
        with open(os.path.join(PICTURES, folder, "pictures", name + ".png"), "wb") as file:
            file.write(base64.b64decode(shot["data"]))

    def close(self):
        self.driver.quit()


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = os.environ.get("TEST_TMPDIR") or tempfile.mkdtemp()
        os.environ["HOME"] = cls.folder  # Chromium keeps files there
        cls.make("tiny-2x2", "models/gpt2/tiny.job", "dist.data=2", "dist.tensor=2")
        cls.make("tiny-stages", "models/gpt2/tiny.job", "dist.data=2", "dist.pipeline=2", "batch.micro=8")
        cls.make("1.5b", "models/gpt2/1.5b.job", "cluster=../../clusters/8xh200.cluster", "dist.data=4", "dist.tensor=4",
                 "dist.pipeline=4", "precision.compute=BF16")
        cls.make("175b", "models/gpt2/175b.job", "cluster=../../clusters/128x8h200.cluster", "dist.data=16",
                 "dist.tensor=8", "dist.pipeline=8", "batch.micro=16", "precision.compute=BF16", "zero.stage=1")
        cls.make("zero", "models/gpt2/345m.job", "cluster=../../clusters/8xh200.cluster", "dist.data=8", "zero.stage=3",
                 "batch.global=64", "batch.micro=64", "precision.compute=BF16")
        cls.make("mixtral", "models/mixtral/tiny.job", "dist.expert=2")
        cls.make("auto", "models/gpt2/tiny.job", "cluster=../../clusters/8x8cpu.cluster", "graph.auto_parallel=true")
        corpus = os.path.join(cls.folder, "corpus.txt")
        with open(corpus, "w", encoding="utf-8") as file:
            file.write("In the beginning was the word. " * 4000)
        run("weft-run", cls.path("tiny-stages.plan"), "--data", corpus, "--steps", "4", "--trace", cls.path("trace.json"),
            "--trace-kernels")
        run("weft-run", "tiny-2x2.plan", "--data", corpus, "--steps", "120", "--report", "run.html", cwd=cls.folder)
        for name in ["tiny-2x2", "1.5b", "175b", "zero", "mixtral", "auto"]:
            run("weft-plan", "report", name + ".plan", cwd=cls.folder)
        run("weft-plan", "report", "tiny-stages.plan", "--trace", "trace.json", cwd=cls.folder)
        run("weft-plan", "report", "tiny-2x2.plan", "tiny-stages.plan", "-o", "two.html", cwd=cls.folder)
        cls.browser = Browser(cls.folder)

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder, name)

    @classmethod
    def make(cls, name, job, *sets):
        run("weft-compile", job, *sets, "-o", cls.path(name + ".plan"), "--quiet")

    def open(self, name, dark=False):
        return self.browser.open(self.path(name + ".html"), dark)

    def tearDown(self):
        self.assertEqual(self.browser.errors(), [])

    def test_every_page_is_small_whole_and_named(self):
        for name in ["tiny-2x2", "tiny-stages", "1.5b", "175b", "zero", "mixtral", "auto", "two", "run"]:
            with self.subTest(name):
                ready = self.open(name)
                size = os.path.getsize(self.path(name + ".html"))
                print("%s: %d bytes, open in %d ms" % (name, size, ready))
                self.assertLess(size, MOST_BYTES)
                self.assertEqual(self.browser.script("return performance.getEntriesByType('resource').length"), 0)
                self.assertEqual(self.browser.script("return document.documentElement.scrollWidth <= innerWidth"), True)
                tree = self.browser.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})
                nameless = [node["role"]["value"] for node in tree["nodes"] if not node["ignored"]
                            and node["role"]["value"] in NAMED and not node.get("name", {}).get("value")]
                self.assertEqual(nameless, [])

    def test_figures_are_those_of_explain(self):
        self.open("175b")
        shown = subprocess.run([PROGRAMS["weft-plan"], "explain", self.path("175b.plan"), "--json"], stdout=subprocess.PIPE)
        explained = json.loads(shown.stdout)
        text = self.browser.one(".figures").text.replace("\n", " ")
        self.assertIn("{:,}".format(round(explained["tokens_per_s"])), text)
        self.assertIn("%.1f %%" % (100 * explained["mfu"]), text)
        self.assertIn("%.2f s" % explained["step_s"], text)
        self.assertIn("of headroom", text)
        self.browser.picture("howto/overview", self.browser.one("header"), self.browser.all("#overview .panel")[1])

    def shown_seconds(self):
        return self.browser.script("return Data.view.end - Data.view.begin")

    def test_the_step_is_walked_and_zoomed_by_keyboard(self):
        self.open("tiny-stages")
        whole = self.shown_seconds()
        canvas = self.browser.one("#gantt-canvas")
        canvas.send_keys(Keys.ARROW_RIGHT)
        self.assertIn("stage 0", self.browser.one("#gantt-detail").text)
        first = self.browser.one("#gantt-detail").text
        canvas.send_keys(Keys.ARROW_RIGHT)
        self.assertNotEqual(self.browser.one("#gantt-detail").text, first)
        self.assertIn("stage 0", self.browser.one("#said").get_attribute("textContent"))
        for _ in range(8):
            canvas.send_keys(Keys.ARROW_DOWN)
        self.assertIn("stage 1", self.browser.one("#gantt-detail").text)
        canvas.send_keys("++")
        self.assertAlmostEqual(self.shown_seconds(), whole / 4)
        canvas.send_keys("-")
        self.assertAlmostEqual(self.shown_seconds(), whole / 2)
        canvas.send_keys("0")
        self.assertAlmostEqual(self.shown_seconds(), whole)

    def test_the_step_is_zoomed_by_the_pointer(self):
        self.open("175b")
        whole = self.shown_seconds()
        self.browser.button("step", "+").click()
        self.assertAlmostEqual(self.shown_seconds(), whole / 2)
        self.browser.button("step", "Whole step").click()
        canvas = self.browser.one("#gantt-canvas")
        self.browser.point(canvas, 0.4, 0.12)
        hint = self.browser.one("#hint")
        self.assertTrue(hint.is_displayed())
        self.assertIn("micro-batch", hint.text)
        ActionChains(self.browser.driver, duration=10).double_click().perform()
        self.assertLess(self.shown_seconds(), whole / 50)
        # A unit of the pipeline and its neighbours, with the transfers between them.
        self.browser.script("Data.look(0.4, 0.75)")
        panel = self.browser.one("#step .panel")
        self.browser.point(canvas, 0.55, 0.16)
        self.browser.picture("howto/step", panel)
        before = self.browser.script("return document.querySelector('#gantt-canvas').height")
        self.browser.button("step", "Every stream").click()
        self.assertGreater(self.browser.script("return document.querySelector('#gantt-canvas').height"), before)

    def test_a_trace_is_beside_the_prediction(self):
        self.open("tiny-stages", dark=True)
        self.assertIn("of the trace", self.browser.one("#step").text)
        self.assertIn("measured", self.browser.one(".figures").text)
        heads = [it.text for it in self.browser.all("#kernels th")]
        self.assertIn("Measured", heads)
        self.browser.picture("howto/trace", self.browser.one("#step .panel"))

    def test_memory_names_tensors(self):
        self.open("1.5b")
        self.browser.button("memory", "Stage 1").click()
        charts = self.browser.all("#memory .chart")
        self.browser.point(charts[0], 0.5, 0.5)
        self.assertIn("activations", self.browser.one("#hint").text)
        canvas = self.browser.one("#memory canvas")
        canvas.send_keys(Keys.ARROW_UP * 3)
        detail = self.browser.one("#memory .detail").text
        self.assertRegex(detail, r"MiB|KiB| B")
        self.assertIn("of the arena", detail)
        self.browser.point(canvas, 0.5, 0.9)
        self.assertIn("at byte", self.browser.one("#hint").text)
        self.browser.picture("howto/memory", self.browser.one("#memory .panel"))
        self.browser.button("memory", "Stage 3").click()
        self.browser.picture("design/arena", self.browser.one("#memory .panel"))

    def test_layers_open_and_fold(self):
        self.open("tiny-2x2")
        nodes = lambda: len(self.browser.all("#model .node"))
        folded = nodes()
        layer = [it for it in self.browser.all("#model .node.folds") if "h.*" in it.text][0]
        layer.send_keys(Keys.ENTER)
        opened = nodes()
        self.assertGreater(opened, folded)
        self.browser.button("model", "Open all").click()
        self.assertGreater(nodes(), opened)
        boxed = self.browser.all("#model .edge.boxed")
        self.assertTrue(any("all_gather over tensor" in it.get_attribute("aria-label") for it in boxed))
        self.browser.picture("howto/model", self.browser.one("#model .panel"))
        self.browser.button("model", "Fold all").click()
        self.assertEqual(nodes(), folded)

    def test_a_parameter_shows_its_tiles(self):
        self.open("tiny-2x2")
        row = [it for it in self.browser.all("#model tbody tr") if it.text.startswith("h.*.mlp.c_fc.weight")][0]
        row.send_keys(Keys.ENTER)
        self.assertIn("h.*.mlp.c_fc.weight", self.browser.one("#tiles").text)
        self.assertEqual([it.text for it in self.browser.all("#tiles svg g text")], ["0, 2", "1, 3"])
        self.browser.picture("howto/tiles", self.browser.one("#model .swap"))

    def test_shares_of_zero_are_gathered_beside_the_computation(self):
        self.open("zero")
        row = [it for it in self.browser.all("#model tbody tr") if it.text.startswith("h.*.mlp.c_proj.weight")][0]
        row.send_keys(Keys.ENTER)
        self.assertEqual([it.text for it in self.browser.all("#tiles svg g text")], [str(rank) for rank in range(8)])
        self.browser.picture("design/shares", self.browser.one("#model .swap"))
        self.browser.script("Data.look(0, 0.3 * Data.view.all)")
        canvas = self.browser.one("#gantt-canvas")
        canvas.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_DOWN, Keys.ARROW_RIGHT * 6)
        detail = self.browser.one("#gantt-detail").text
        self.assertIn("all_gather", detail)
        self.assertIn("hidden behind computation", detail)
        self.browser.picture("design/streams", self.browser.one("#step .panel"))

    def numbers(self, section, column):
        cells = [row.find_elements(By.TAG_NAME, "td")[column].text for row in self.browser.all("#%s tbody tr" % section)]
        scale = {"s": 1, "ms": 1e-3, "us": 1e-6}
        return [float(number) * scale[unit] for number, unit in (cell.split() for cell in cells)]

    def test_tables_sort_and_find(self):
        self.open("tiny-2x2")
        exposed = self.numbers("communication", 7)
        self.assertEqual(exposed, sorted(exposed, reverse=True))
        self.browser.button("communication", "Takes").click()
        takes = self.numbers("communication", 5)
        self.assertEqual(takes, sorted(takes, reverse=True))
        self.browser.button("communication", "Takes").send_keys(Keys.ENTER)
        self.assertEqual(self.numbers("communication", 5), sorted(self.numbers("communication", 5)))
        self.assertEqual([it.get_attribute("aria-sort") for it in self.browser.all("#communication th[aria-sort]")], ["ascending"])
        search = self.browser.one("#kernels input")
        search.send_keys("attention backward")
        rows = [it.text for it in self.browser.all("#kernels tbody tr")]
        self.assertTrue(rows and all("attention" in row and "backward" in row for row in rows), rows)

    def test_a_search_says_why_others_lost(self):
        self.open("auto")
        self.assertIn("Above the bound", self.browser.one(".figures").text)
        rows = [it.text for it in self.browser.all("#search .panel:nth-of-type(2) tbody tr")]
        self.assertIn("chosen", rows[0])
        self.assertGreater(len(rows), 1)
        self.browser.picture("howto/search", self.browser.all("#search .panel")[0], self.browser.all("#search .panel")[1])

    def test_two_plans_stand_side_by_side(self):
        self.open("two")
        text = self.browser.one(".figures").text
        self.assertRegex(text, r"[+−]\d+\.\d %")
        self.assertIn("dist.tensor", self.browser.one("#differences").text)
        self.browser.picture("howto/two", self.browser.one("header"), self.browser.all("#overview .panel")[0])
        self.browser.button("communication", "B tiny-stages.plan").click()
        self.assertIn("transfer", self.browser.one("#communication").text)

    def test_it_fits_a_small_screen(self):
        self.open("auto")
        self.browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                            {"width": 420, "height": 900, "deviceScaleFactor": 2, "mobile": False})
        self.assertEqual(self.browser.script("return document.documentElement.scrollWidth"), 420)

    def test_a_run_draws_its_losses(self):
        self.open("run")
        self.assertIn("All 120 steps are done", self.browser.one("#run").text)
        charts = self.browser.all("#run svg")
        labels = [it.get_attribute("aria-label") for it in charts]
        for name in ["Loss", "Tokens a second", "Resident memory of the first process", "Share of the stated peak"]:
            self.assertTrue(any(label.startswith(name + " by step") for label in labels), labels)
        self.browser.point(charts[0], 0.5, 0.5)
        self.assertRegex(self.browser.one("#hint").text, r"step \d+\nLoss \d")
        self.browser.picture("howto/run", self.browser.one("#run .columns"))

    def test_it_prints(self):
        self.open("tiny-2x2", dark=True)
        pdf = self.browser.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True, "paperWidth": 11.7, "paperHeight": 8.3})
        self.assertGreater(len(base64.b64decode(pdf["data"])), 20000)
        if PICTURES:
            with open(os.path.join(self.folder, "print.pdf"), "wb") as file:
                file.write(base64.b64decode(pdf["data"]))


if __name__ == "__main__":
    mark = sys.argv.index("--programs")
    PROGRAMS = {os.path.basename(path): os.path.abspath(path) for path in sys.argv[mark + 1:]}
    arguments = sys.argv[:mark]
    if "--pictures" in arguments:
        at = arguments.index("--pictures")
        PICTURES = os.path.abspath(arguments[at + 1])
        for folder in ("design", "howto"):
            os.makedirs(os.path.join(PICTURES, folder, "pictures"), exist_ok=True)
        del arguments[at:at + 2]
    unittest.main(argv=arguments)
