// What a run has come to so far: losses, speed and memory by step.
const Run = (() => {
  const {h} = Elements;
  const kHeight = 150, kLeft = 70, kRight = 12, kTop = 8, kBottom = 22;

  // key of the metrics, name, text, what of the plan stands beside it.
  const kCharts = [
    ['loss', 'Loss', (it) => it.toPrecision(4), null],
    ['tokens_per_s', 'Tokens a second', Format.count, (plan) => plan.explain.tokens_per_s],
    ['memory_bytes', 'Resident memory of the first process', Format.bytes, null],
    ['grad_norm', 'Norm of the gradients', (it) => it.toPrecision(3), null],
    ['lr', 'Learning rate', (it) => it.toExponential(2), null],
    ['mfu', 'Share of the measured peak', Format.share, null],
    ['mfu_cluster', 'Share of the stated peak', Format.share, null],
    ['memory_share', 'Share of the host\'s memory', Format.share, null],
  ];
  const kOthers = new Set([...kCharts.map(([key]) => key), 'step', 'tokens', 'tflops']);

  // Those of `kCharts` that the run has, and the model's own.
  const chartsOf = (rows) => {
    const known = (key) => rows.some((row) => Number.isFinite(row[key]));
    const keys = new Set(rows.flatMap(Object.keys));
    const own = [...keys].filter((key) => !kOthers.has(key)).map((key) => [key, key, (it) => it.toPrecision(4), null]);
    return [...kCharts, ...own].filter(([key]) => known(key));
  };

  const line = (rows, x, y, key) =>
      d3.line().defined((row) => Number.isFinite(row[key])).x((row) => x(row.step)).y((row) => y(row[key]))(rows);

  const chart = (plan, rows, [key, name, text, predicted]) => {
    const element = h('div', {class: 'chart'});
    const values = rows.map((row) => row[key]).filter(Number.isFinite);
    const beside = predicted && predicted(plan);
    const [low, high] = d3.extent(beside ? [...values, beside] : values);
    const floor = key === 'loss' ? low : Math.min(0, low);
    const y =
        d3.scaleLinear().domain([floor, high > floor ? high : floor + 1]).nice(4).range([kHeight - kBottom, kTop]);
    const last = values[values.length - 1];
    const draw = (width) => {
      const x = d3.scaleLinear().domain([rows[0].step, Math.max(rows[rows.length - 1].step, rows[0].step + 1)]);
      x.range([kLeft, width - kRight]);
      const svg =
          d3.create('svg').attr('viewBox', `0 0 ${width} ${kHeight}`).attr('height', kHeight).attr('role', 'img');
      svg.attr('aria-label', `${name} by step: ${text(values[0])} at first, ${text(last)} now`);
      const axis = (name, x, y) => svg.append('g').attr('class', name).attr('transform', `translate(${x},${y})`);
      const left = d3.axisLeft(y).tickValues(text === Format.bytes ? Elements.byteTicks(y) : y.ticks(4));
      axis('grid', kLeft, 0).call(left.tickSize(-(width - kLeft - kRight)).tickFormat(''));
      axis('axis', kLeft, 0).call(left.tickSize(4).tickFormat(text));
      axis('axis', 0, kHeight - kBottom)
          .call(d3.axisBottom(x).ticks(6).tickFormat((it) => (it % 1 ? '' : Format.count(it))));
      if (beside) {
        const level = svg.append('line').attr('class', 'limit').attr('x1', kLeft).attr('x2', width - kRight);
        level.attr('y1', y(beside)).attr('y2', y(beside));
        const note = svg.append('text').attr('class', 'note').attr('x', width - kRight - 4);
        note.attr('y', y(beside) + 14).text(`predicted ${text(beside)}`);
      }
      // An evaluation is behind some steps alone.
      const those = key.startsWith('eval_') ? rows.filter((row) => Number.isFinite(row[key])) : rows;
      svg.append('path').attr('class', 'course').attr('d', line(those, x, y, key));
      const dot = svg.append('circle').attr('class', 'now').attr('r', 3.5).attr('visibility', 'hidden');
      svg.on('mousemove', () => {
           const step = x.invert(d3.mouse(svg.node())[0]);
           const row = rows[d3.scan(rows, (a, b) => Math.abs(a.step - step) - Math.abs(b.step - step))];
           if (!Number.isFinite(row[key])) return;
           dot.attr('cx', x(row.step)).attr('cy', y(row[key])).attr('visibility', 'visible');
           Elements.showHint(d3.event, [h('b', {}, `step ${Format.count(row.step)}`), `${name} ${text(row[key])}`]);
         }).on('mouseleave', () => {
        dot.attr('visibility', 'hidden');
        Elements.hideHint();
      });
      element.replaceChildren(svg.node());
    };
    Elements.drawn(element, draw);
    return h('div', {class: 'panel'}, h('h3', {}, `${name} `, h('small', {class: 'keys'}, text(last))), element);
  };

  const render = (plan, run) => {
    const {rows, steps, every} = run;
    if (!rows.length) return h('div', {class: 'panel'}, 'No step has ended yet. Load the page again.');
    const now = rows[rows.length - 1].step;
    const state = now >= steps ?
        `All ${Format.count(steps)} steps are done.` :
        `Step ${Format.count(now)} of ${Format.count(steps)}. Load the page again to see more.`;
    const thinned = every > 1 ? ` Every ${Format.count(every)}th step is shown, and the last.` : '';
    return [
      h('p', {class: 'lead'}, state + thinned),
      h('div', {class: 'columns'}, chartsOf(rows).map((it) => chart(plan, rows, it))),
    ];
  };
  return {render};
})();
