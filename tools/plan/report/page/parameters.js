// Parameters, gradients and optimizer state, and a picture of the tiles that ranks hold of one.
const Parameters = (() => {
  const {h} = Elements;

  // The two dimensions that say most: those that are cut, else the longest.
  const shownDims = (layout) => {
    const dims = layout.shape.map((size, i) => ({i, size, cut: layout.dims[i] < size}));
    return dims.sort((a, b) => b.cut - a.cut || b.size - a.size).slice(0, 2).sort((a, b) => a.i - b.i);
  };

  const picture = (plan, parameter) => {
    const layout = plan.parameters.layouts[parameter.layout];
    const dims = shownDims(layout);
    const [rows, columns] = dims.length === 2 ? dims : [null, dims[0]];
    const wide = 270;
    const ratio = rows && columns ? Math.min(Math.max(rows.size / columns.size, 0.35), 1.25) : 0.22;
    const tall = Math.round(wide * ratio);
    const svg =
        d3.create('svg')
            .attr('class', 'tiles')
            .attr('viewBox', `0 0 ${wide + 24} ${tall + 40}`)
            .attr('width', wide + 24)
            .attr('role', 'img')
            .attr(
                'aria-label',
                `${parameter.name}, ${parameter.type}, ${
                    layout.tiles.length === 1 ? 'whole on every rank' : `${layout.tiles.length} tiles`}: ${
                    layout.tiles.slice(0, 8).map((tile) => `[${tile.origin}] on ranks ${tile.ranks}`).join('; ')}`);
    // Few tiles have a colour each; of many, neighbours differ.
    const few = layout.tiles.length <= 6;
    const paint = (n, row, column) =>
        (few                    ? ['--forward', '--backward', '--update', '--activations', '--comm', '--weight'][n] :
             (row + column) % 2 ? '--forward' :
                                  '--comm');
    const x = d3.scaleLinear().domain([0, columns ? columns.size : 1]).range([20, wide + 20]);
    const y = d3.scaleLinear().domain([0, rows ? rows.size : 1]).range([20, tall + 20]);
    // Tiles that differ in other dimensions than those shown lie on each other: their ranks are named together.
    const places = d3.nest().key((tile) => dims.map(({i}) => tile.origin[i]).join()).entries(layout.tiles);
    places.forEach(({values}, n) => {
      const [{origin}] = values;
      const [x0, x1] = columns ? [x(origin[columns.i]), x(origin[columns.i] + layout.dims[columns.i])] : x.range();
      const [y0, y1] = rows ? [y(origin[rows.i]), y(origin[rows.i] + layout.dims[rows.i])] : y.range();
      const at = (dim) => (dim ? Math.round(origin[dim.i] / layout.dims[dim.i]) : 0);
      const fill = `var(${paint(n, at(rows), at(columns))})`;
      const ranks = values.map((tile) => tile.ranks).join('; ');
      const g = svg.append('g')
                    .on('mousemove',
                        () => Elements.showHint(
                            d3.event,
                            [
                              h('b', {}, `from [${origin.join(', ')}], [${layout.dims.join(', ')}] elements`),
                              `on ranks ${ranks}`
                            ]))
                    .on('mouseleave', Elements.hideHint);
      g.append('rect')
          .attr('x', x0)
          .attr('y', y0)
          .attr('width', Math.max(x1 - x0, 1))
          .attr('height', Math.max(y1 - y0, 1))
          .attr('fill', fill)
          .attr('fill-opacity', few ? 0.3 : 0.22)
          .attr('stroke', fill);
      const words = ranks.length > 26 ? `${ranks.slice(0, 24)}…` : ranks;
      if (x1 - x0 > 6 * words.length + 4 && y1 - y0 > 14)
        g.append('text')
            .attr('x', (x0 + x1) / 2)
            .attr('y', (y0 + y1) / 2 + 4)
            .attr('text-anchor', 'middle')
            .text(words);
      else if (y1 - y0 > 6 * words.length + 4 && x1 - x0 > 13)
        g.append('text')
            .attr('transform', `translate(${(x0 + x1) / 2 + 4},${(y0 + y1) / 2}) rotate(-90)`)
            .attr('text-anchor', 'middle')
            .text(words);
    });
    if (columns)
      svg.append('text')
          .attr('x', wide / 2 + 20)
          .attr('y', 13)
          .attr('text-anchor', 'middle')
          .text(`dim ${columns.i}: ${Format.count(columns.size)}`);
    if (rows)
      svg.append('text')
          .attr('transform', `translate(12,${tall / 2 + 20}) rotate(-90)`)
          .attr('text-anchor', 'middle')
          .text(`dim ${rows.i}: ${Format.count(rows.size)}`);
    const cut = layout.tiles.length > 1;
    const whole =
        /=P/.test(parameter.sbp) ? 'Not cut: every rank has an addend of it' : 'Not cut: every rank has all of it';
    return [
      h('h3', {}, h('span', {class: 'mono'}, parameter.name)), svg.node(),
      h('p', {class: 'keys'},
        `${cut ? `${layout.tiles.length} tiles` : whole}. ${layout.mesh}; the numbers are ranks of stage ${
            parameter.stages[0]}${parameter.stages.length > 1 ? ', other stages likewise' : ''}.`)
    ];
  };

  const render = (plan) => {
    const shown = h('div', {id: 'tiles', 'aria-live': 'polite'});
    const show = (parameter) => shown.replaceChildren(...picture(plan, parameter).filter(Boolean));
    const {parameters} = plan.parameters;
    const first =
        parameters.find((it) => plan.parameters.layouts[it.layout].tiles.length > 1 && it.type.split(',').length > 1) ||
        parameters[0];
    if (!first) return h('div', {class: 'panel'}, 'No parameters.');
    show(first);
    return h(
        'div', {class: 'panel'}, h('h3', {}, 'Parameters, gradients and optimizer state over the mesh'),
        h('div', {class: 'swap'},
          Elements.table(
              'Parameters',
              [
                {name: 'Parameter', value: (it) => it.name, show: (it) => it.name, mono: true},
                {name: 'What', value: (it) => it.what, show: (it) => it.what},
                {name: 'Count', value: (it) => it.count, show: (it) => Format.count(it.count), num: true},
                {name: 'Type', value: (it) => it.type, show: (it) => it.type, mono: true},
                {name: 'Layout', value: (it) => it.sbp, show: (it) => it.sbp, mono: true},
                {name: 'On a rank', value: (it) => it.bytes, show: (it) => Format.bytes(it.bytes), num: true},
              ],
              parameters, {filter: 'Find a parameter', pick: show}),
          shown));
  };
  return {render};
})();
