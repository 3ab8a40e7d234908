// Kinds of kernels by the FLOPs that they do a byte and a second, below what the device can do.
const Roofline = (() => {
  const {h} = Elements;
  const kTall = 300, kLeft = 92, kRight = 14, kBottom = 40;

  const decades = (scale) => {
    const [low, high] = scale.domain().map(Math.log10);
    return d3.range(Math.ceil(low), Math.floor(high) + 1).map((power) => 10 ** power);
  };
  const intensityText = (it) => (it < 1 ? String(Number(it.toPrecision(1))) : Format.count(it));

  const scalesOf = (dots, peak, memory, width) => {
    const [least, most] = d3.extent(dots, (it) => it.intensity);
    const slowest = d3.min(dots, (it) => it.now.flops_s) || peak;
    const x = d3.scaleLog().domain([0.8 * Math.min(0.05, least || 1), Math.max(8 * peak / memory, 1.6 * (most || 1))]);
    const y = d3.scaleLog().domain([0.7 * Math.max(1e-6 * peak, Math.min(1e-3 * peak, slowest)), 4 * peak]);
    return {x: x.range([kLeft, width - kRight]), y: y.range([kTall - kBottom, 8])};
  };

  const drawAxes = (svg, {x, y}, width) => {
    const axis = (name, left, top) =>
        svg.append('g').attr('class', name).attr('transform', `translate(${left},${top})`);
    const left = d3.axisLeft(y).tickValues(decades(y));
    const below = d3.axisBottom(x).tickValues(decades(x)).tickFormat(intensityText);
    axis('grid', kLeft, 0).call(left.tickSize(-(width - kLeft - kRight)).tickFormat(''));
    axis('axis', kLeft, 0).call(left.tickSize(5).tickFormat((it) => Format.rate(it, 'FLOP/s')));
    axis('axis', 0, kTall - kBottom).call(below);
  };

  const drawRoof = (svg, {x, y}, peak, memory, width) => {
    const [[x0, x1], [y0]] = [x.domain(), y.domain()];
    const begin = Math.max(x0, y0 / memory), knee = peak / memory;
    const line = d3.line().x(([a]) => x(a)).y(([, b]) => y(b));
    svg.append('path').attr('class', 'roof').attr('d', line([[begin, begin * memory], [knee, peak], [x1, peak]]));
    const text = (left, top, words) =>
        svg.append('text').attr('class', 'said').attr('x', left).attr('y', top).text(words);
    text(width - 18, y(peak) - 8, `matrix products ${Format.rate(peak, 'FLOP/s')}`);
    const low = Math.sqrt(begin * knee);
    text(x(low) - 14, y(low * memory) - 22, `memory ${Format.rate(memory, 'B/s')}`);
    text(width - kRight, kTall - 4, 'FLOPs a byte');
  };

  const describe = (it, speed, how) =>
      [h('b', {}, it.name),
       `${Data.kPhases[it.phase]}, ${how}: ${Format.rate(speed.flops_s, 'FLOP/s')}, ${
           Format.rate(speed.bytes_s, 'B/s')}`,
       `${Format.seconds(it.predicted_s)} of a step predicted`,
       h('i', {class: 'mono'}, it.location),
  ];

  const drawSpot = (svg, {x, y}, it, speed, how, radius) => {
    if (!(speed.flops_s > 0)) return;
    const color = `var(--${Data.kPhases[it.phase]})`;
    const beside = how === 'predicted' && it.measured_s !== null;
    const spot = svg.append('circle').attr('class', beside ? 'spot beside' : 'spot').attr('r', radius);
    spot.attr('cx', x(it.intensity)).attr('cy', y(Math.max(speed.flops_s, y.domain()[0])));
    spot.attr('fill', beside ? 'none' : color).attr('stroke', color);
    spot.on('mousemove', () => Elements.showHint(d3.event, describe(it, speed, how)))
        .on('mouseleave', Elements.hideHint);
  };

  const render = (plan, kernels) => {
    const {contraction_flops: peak, memory_bytes_s: memory} = plan.roofline;
    const dots = kernels.filter((it) => it.intensity > 0 && it.predicted.flops_s > 0);
    const radius = d3.scaleSqrt().domain([0, d3.max(dots, (it) => it.predicted_s)]).range([2.5, 17]);
    const chart = h('div', {class: 'chart'});
    const label = `Roofline: ${dots.length} kinds of kernels below ${Format.rate(peak, 'FLOP/s')} and ` +
        Format.rate(memory, 'B/s');
    Elements.drawn(chart, (width) => {
      const svg = d3.create('svg').attr('viewBox', `0 0 ${width} ${kTall}`).attr('height', kTall).attr('role', 'img');
      svg.attr('aria-label', label);
      const scales = scalesOf(dots, peak, memory, width);
      drawAxes(svg, scales, width);
      drawRoof(svg, scales, peak, memory, width);
      for (const it of [...dots].sort((a, b) => b.predicted_s - a.predicted_s)) {
        drawSpot(svg, scales, it, it.predicted, 'predicted', radius(it.predicted_s));
        if (it.measured_s !== null) drawSpot(svg, scales, it, it.now, 'measured', radius(it.predicted_s));
      }
      chart.replaceChildren(svg.node());
    });
    const has = (phase) => kernels.some((it) => it.phase === phase);
    const phases = [[1, 'forward'], [2, 'backward'], [3, 'weight'], [4, 'update'], [0, 'other']];
    const measured = kernels.some((it) => it.measured_s !== null) ? ' Filled: measured; dashed: predicted.' : '';
    return [
      chart, Elements.legend(phases.filter(([phase]) => has(phase)).map(([, name]) => [name, name])),
      h('p', {class: 'keys'},
        `A spot is a kind of kernel, as large as the seconds that it takes in a step; ` +
            `what is slower than the chart is deep stands at its edge.${measured}`)
    ];
  };
  return {render};
})();
