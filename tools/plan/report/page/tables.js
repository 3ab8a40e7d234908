// Communication, and kernels beside the roofline.
const Tables = (() => {
  const {h, bar} = Elements;

  const communication = (plan) => {
    const rows = plan.explain.communication;
    if (!rows.length) return h('div', {class: 'panel'}, 'Nothing is sent: one rank, or ranks that share nothing.');
    const most = Math.max(...rows.map((it) => it.communication_s));
    const number = (name, key, text) => ({name, value: (it) => it[key], show: (it) => text(it[key]), num: true});
    return h(
        'div', {class: 'panel long'},
        Elements.table(
            'Communication',
            [
              {name: 'What', value: (it) => it.name, show: (it) => it.name, mono: true},
              {name: 'Kind', value: (it) => it.what, show: (it) => it.what},
              {name: 'Over', value: (it) => it.over, show: (it) => it.over},
              number('Times', 'acts', Format.count),
              number('Sent', 'sent_bytes', Format.bytes),
              number('Takes', 'communication_s', Format.seconds),
              {
                name: 'Hidden, exposed',
                value: (it) => it.hidden_s / (it.communication_s || 1),
                show: (it) =>
                    bar([{color: 'comm', value: it.hidden_s}, {color: 'exposed', value: it.exposed_comm_s}], most,
                        `${Format.seconds(it.hidden_s)} hidden, ${Format.seconds(it.exposed_comm_s)} exposed`)
              },
              number('Exposed', 'exposed_comm_s', Format.seconds),
              {name: 'Made at', value: (it) => it.location, show: (it) => it.location, where: true},
            ],
            rows, {sort: 7, filter: 'Find communication'}),
        Elements.legend([['comm', 'hidden behind computation'], ['exposed', 'exposed']]));
  };

  // Of one run, at what it is predicted or measured to take.
  const speeds = (kernel, seconds) => {
    if (seconds === null || !(kernel.runs > 0)) return {bytes_s: null, flops_s: null};
    const one = seconds / kernel.runs;
    return {
      bytes_s: one > 0 ? kernel.bytes / one : null,
      flops_s: one > 0 ? (kernel.contraction_flops + kernel.flops) / one : null
    };
  };

  const prepare = (plan) => plan.kernels.map((kernel) => {
    const all = kernel.contraction_flops + kernel.flops;
    const floor = Math.max(
        kernel.contraction_flops / plan.roofline.contraction_flops + kernel.flops / plan.roofline.other_flops,
        kernel.bytes / plan.roofline.memory_bytes_s);
    const seconds = kernel.measured_s === null ? kernel.predicted_s : kernel.measured_s;
    return {
      ...kernel,
      all,
      intensity: kernel.bytes ? all / kernel.bytes : 0,
      floor_s: floor * kernel.runs,
      predicted: speeds(kernel, kernel.predicted_s),
      measured: speeds(kernel, kernel.measured_s),
      now: speeds(kernel, seconds)
    };
  });

  const roofline = (plan, kernels) => {
    const chart = h('div', {class: 'chart'});
    const {contraction_flops: peak, memory_bytes_s: memory} = plan.roofline;
    const dots = kernels.filter((it) => it.intensity > 0 && it.predicted.flops_s > 0);
    const [tall, left, bottom] = [300, 92, 40];
    const draw = (width) => {
      const x = d3.scaleLog()
                    .domain([
                      Math.min(0.05, d3.min(dots, (it) => it.intensity) || 1) * 0.8,
                      Math.max(peak / memory * 8, (d3.max(dots, (it) => it.intensity) || 1) * 1.6)
                    ])
                    .range([left, width - 14]);
      const y = d3.scaleLog()
                    .domain([
                      Math.max(peak * 1e-5, Math.min(peak * 1e-3, d3.min(dots, (it) => it.now.flops_s) || peak)) * 0.7,
                      peak * 4
                    ])
                    .range([tall - bottom, 8]);
      const svg = d3.create('svg')
                      .attr('viewBox', `0 0 ${width} ${tall}`)
                      .attr('height', tall)
                      .attr('role', 'img')
                      .attr(
                          'aria-label',
                          `Roofline: ${dots.length} kinds of kernels below ${Format.rate(peak, 'FLOP/s')} and ${
                              Format.rate(memory, 'B/s')}`);
      const decades = (scale, every) => {
        const [a, b] = scale.domain().map(Math.log10);
        return d3.range(Math.ceil(a), Math.floor(b) + 1, every).map((e) => 10 ** e);
      };
      svg.append('g')
          .attr('class', 'grid')
          .attr('transform', `translate(${left},0)`)
          .call(d3.axisLeft(y).tickValues(decades(y, 1)).tickSize(-(width - left - 14)).tickFormat(''));
      svg.append('g')
          .attr('class', 'axis')
          .attr('transform', `translate(${left},0)`)
          .call(d3.axisLeft(y).tickValues(decades(y, 1)).tickFormat((it) => Format.rate(it, 'FLOP/s')));
      svg.append('g')
          .attr('class', 'axis')
          .attr('transform', `translate(0,${tall - bottom})`)
          .call(d3.axisBottom(x)
                    .tickValues(decades(x, 1))
                    .tickFormat((it) => (it < 1 ? String(+it.toPrecision(1)) : Format.count(it))));
      svg.append('text')
          .attr('x', (left + width) / 2)
          .attr('y', tall - 4)
          .attr('text-anchor', 'middle')
          .attr('fill', 'var(--soft)')
          .style('font', '11.5px var(--sans)')
          .text('FLOPs a byte');
      const [x0, x1] = x.domain();
      const knee = peak / memory;
      const roof =
          [[Math.max(x0, y.domain()[0] / memory), Math.max(x0 * memory, y.domain()[0])], [knee, peak], [x1, peak]];
      svg.append('path')
          .attr('d', d3.line().x(([a]) => x(a)).y(([, b]) => y(b))(roof))
          .attr('fill', 'none')
          .attr('stroke', 'var(--ink)')
          .attr('stroke-width', 1.5);
      const label = (text, at, up, anchor) => svg.append('text')
                                                  .attr('x', at)
                                                  .attr('y', up)
                                                  .attr('text-anchor', anchor)
                                                  .attr('fill', 'var(--soft)')
                                                  .style('font', '11.5px var(--sans)')
                                                  .text(text);
      label(`matrix products ${Format.rate(peak, 'FLOP/s')}`, width - 18, y(peak) - 26, 'end');
      const low = Math.sqrt(roof[0][0] * knee);
      label(`memory ${Format.rate(memory, 'B/s')}`, x(low) - 14, y(low * memory) - 22, 'end');
      const size = d3.scaleSqrt().domain([0, d3.max(dots, (it) => it.predicted_s)]).range([2.5, 17]);
      const spot = (it, speed, hollow) => {
        if (!(speed.flops_s > 0)) return;
        svg.append('circle')
            .attr('cx', x(it.intensity))
            .attr('cy', y(Math.max(speed.flops_s, y.domain()[0])))
            .attr('r', size(it.predicted_s))
            .attr('fill', hollow ? 'none' : `var(--${Data.kPhases[it.phase]})`)
            .attr('fill-opacity', 0.55)
            .attr('stroke', `var(--${Data.kPhases[it.phase]})`)
            .attr('stroke-dasharray', hollow ? '3 2' : null)
            .on('mousemove',
                () => Elements.showHint(
                    d3.event,
                    [
                      h('b', {}, it.name),
                      `${Data.kPhases[it.phase]}, ${
                          hollow                     ? 'predicted' :
                              it.measured_s === null ? 'predicted' :
                                                       'measured'}: ${Format.rate(speed.flops_s, 'FLOP/s')}, ${
                          Format.rate(speed.bytes_s, 'B/s')}`,
                      `${Format.seconds(it.predicted_s)} of a step predicted`, h('i', {class: 'mono'}, it.location)
                    ]))
            .on('mouseleave', Elements.hideHint);
      };
      for (const it of [...dots].sort((a, b) => b.predicted_s - a.predicted_s)) {
        if (it.measured_s !== null) spot(it, it.predicted, true);
        spot(it, it.now, false);
      }
      chart.replaceChildren(svg.node());
    };
    Elements.drawn(chart, draw);
    const measured = kernels.some((it) => it.measured_s !== null);
    return [
      chart, Elements.legend([
        ['forward', 'forward'], ['backward', 'backward'],
        ...(kernels.some((it) => it.phase === 3) ? [['weight', 'weight part']] : []), ['update', 'update'],
        ['other', 'other']
      ]),
      h('p', {class: 'keys', style: 'margin: 8px 0 0'},
        `A spot is a kind of kernel, as large as the seconds that it takes in a step.${
            measured ? ' Filled: measured; dashed: predicted.' : ''}`)
    ];
  };

  const kernels = (plan) => {
    const rows = prepare(plan);
    const measured = rows.some((it) => it.measured_s !== null);
    const all = d3.sum(rows, (it) => it.predicted_s);
    const number = (name, value, text, title) =>
        ({name, value, show: (it) => (value(it) === null ? '–' : text(value(it))), num: true, title});
    const columns = [
      {
        name: 'Kernel',
        value: (it) => it.name,
        show: (it) => h('span', {title: it.product ? `${it.product} ${it.type}` : it.type}, it.name),
        mono: true
      },
      {
        name: 'Phase',
        value: (it) => Data.kPhases[it.phase],
        show: (it) => [Elements.swatch(Data.kPhases[it.phase]), Data.kPhases[it.phase]],
        tight: true
      },
      {name: 'Product', value: (it) => it.product, show: (it) => it.product, mono: true},
      number('Runs', (it) => it.runs, Format.count, 'in a step, of a rank'),
      number('Predicted', (it) => it.predicted_s, Format.seconds, 'in a step, of a rank'),
      ...(measured ? [] : [number('Share', (it) => it.predicted_s / all, Format.share)]),
      ...(measured ?
              [
                number('Measured', (it) => it.measured_s, Format.seconds),
                number(
                    'Ratio', (it) => (it.measured_s ? it.predicted_s / it.measured_s : null), (it) => it.toFixed(2),
                    'predicted over measured')
              ] :
              []),
      number(
          'GB/s', (it) => it.now.bytes_s, (it) => Format.count(it / 1e9),
          measured ? 'measured where it was' : 'predicted'),
      number(
          'TFLOP/s', (it) => it.now.flops_s, (it) => (it >= 1e11 ? Format.count(it / 1e12) : (it / 1e12).toFixed(3)),
          measured ? 'measured where it was' : 'predicted'),
      number(
          'Of roofline',
          (it) => (it.measured_s === null ? it.predicted_s : it.measured_s) > 0 ?
              it.floor_s / (it.measured_s === null ? it.predicted_s : it.measured_s) :
              null,
          Format.share, 'what the device’s rates would take, over what it takes'),
      {name: 'Made at', value: (it) => it.location, show: (it) => it.location, where: true},
    ];
    return [
      h('div', {class: 'panel'}, h('h3', {}, 'Beside the roofline'), roofline(plan, rows)),
      h('div', {class: 'panel long'}, h('h3', {}, 'All kernels'),
        Elements.table('Kernels', columns, rows, {sort: 4, filter: 'Find a kernel'}))
    ];
  };
  return {communication, kernels};
})();
