// Memory over the step, and where in the arena each tensor lies while it lives.
const Memory = (() => {
  const {h, color} = Elements;
  const kLeft = 70, kRight = 12, kArea = 230, kMap = 320, kAxis = 22;

  // The rectangles of a stage's map: each life of each tensor.
  const livesOf = (plan, stage) => {
    const {tensors} = plan.memory.stages[stage];
    const {acts} = plan.timeline.stages[stage];
    const lives = [];
    const at = (actor, micro, end) => {
      const act = acts[actor].get(micro);
      return act ? act[end] : end ? plan.step_s : 0;
    };
    tensors.name.forEach((_, t) => {
      const {[t]: offsets} = tensors.offsets;
      if (tensors.lives[t] === null)
        return lives.push({t, begin: 0, end: plan.step_s, offset: offsets[0], bytes: tensors.bytes[t]});
      for (const [first, micro, last, lastMicro, slot, count] of tensors.lives[t]) {
        for (let i = 0; i < count; ++i) {
          lives.push({
            t,
            begin: at(first, micro + i, 0),
            end: at(last, lastMicro + i, 1),
            offset: offsets[(slot + i) % offsets.length],
            bytes: tensors.bytes[t],
            micro: count > 1 ? micro + i : null
          });
        }
      }
    });
    return lives.sort((a, b) => a.begin - b.begin);
  };

  const describe = (plan, stage, life) => {
    const {tensors} = plan.memory.stages[stage];
    const always = tensors.lives[life.t] === null;
    return [
      h('b', {}, tensors.name[life.t]),
      h('span', {},
        `${tensors.type[life.t]} · ${Format.bytes(tensors.bytes[life.t])} · ${
            plan.memory.categories[tensors.category[life.t]]}`),
      h('span', {},
        always ? 'lives from step to step' :
                 `lives ${Format.seconds(life.end - life.begin)}, from ${Format.seconds(life.begin)}${
                     life.micro === null ? '' : `, for micro-batch ${life.micro}`}`),
      h('span', {}, `at byte ${Format.count(life.offset)} of the arena`),
      tensors.location[life.t] ? h('i', {class: 'mono'}, tensors.location[life.t]) : null,
    ].filter(Boolean);
  };

  const stageView = (plan, stage, label) => {
    const {categories} = plan.memory;
    const {live} = plan.memory.stages[stage];
    const facts = plan.stages[stage];
    const bins = live[categories[0]].length;
    const rows = d3.range(bins).map((i) => Object.fromEntries(categories.map((name) => [name, live[name][i]])));
    const used = categories.filter((name) => live[name].some((bytes) => bytes > 0));
    const order = ['parameters', 'optimizer', 'gradients', 'communication', 'workspace', 'activations'].filter(
        (name) => used.includes(name));
    const layers = d3.stack().keys(order)(rows);
    const most = facts.peak_bytes * 1.06;
    const peak = rows.reduce(
        (best, row, i) => (d3.sum(order, (name) => row[name]) > d3.sum(order, (name) => rows[best][name]) ? i : best),
        0);

    // The stacked area, as SVG.
    const area = h('div', {class: 'chart'});
    const x = d3.scaleLinear(), y = d3.scaleLinear().domain([0, most]).range([kArea - kAxis, 6]);
    const ticks = (scale, count) => {  // at powers of two, as bytes are counted
      const [, top] = scale.domain();
      const step = 2 ** Math.ceil(Math.log2(top / count));
      return d3.range(0, top, step);
    };
    const drawArea = (width) => {
      x.domain([Data.view.begin, Data.view.end]).range([kLeft, width - kRight]);
      const svg =
          d3.create('svg')
              .attr('viewBox', `0 0 ${width} ${kArea}`)
              .attr('height', kArea)
              .attr('role', 'img')
              .attr(
                  'aria-label',
                  `Memory of a rank of stage ${stage} over the step: at most ${
                      Format.bytes(
                          d3.sum(order, (name) => rows[peak][name]))}, of ${Format.bytes(facts.peak_bytes)} allocated`);
      const clip = `clip-${label}-${stage}`;
      svg.append('clipPath')
          .attr('id', clip)
          .append('rect')
          .attr('x', kLeft)
          .attr('y', 0)
          .attr('width', width - kLeft - kRight)
          .attr('height', kArea);
      svg.append('g')
          .attr('class', 'grid')
          .attr('transform', `translate(${kLeft},0)`)
          .call(d3.axisLeft(y).tickValues(ticks(y, 5)).tickSize(-(width - kLeft - kRight)).tickFormat(''));
      const shape = d3.area()
                        .x((_, i) => x(i / bins * plan.step_s))
                        .y0(([low]) => y(low))
                        .y1(([, high]) => y(high))
                        .curve(d3.curveStepAfter);
      const g = svg.append('g').attr('clip-path', `url(#${clip})`);
      for (const layer of layers) {
        const closed = [...layer, layer[bins - 1]];
        g.append('path')
            .attr('d', shape(closed))
            .attr('fill', `var(--${layer.key})`)
            .attr('stroke', 'var(--panel)')
            .attr('stroke-width', 0.6);
      }
      g.append('line')
          .attr('x1', kLeft)
          .attr('x2', width - kRight)
          .attr('y1', y(facts.peak_bytes))
          .attr('y2', y(facts.peak_bytes))
          .attr('stroke', 'var(--ink)')
          .attr('stroke-dasharray', '5 4');
      svg.append('text')
          .attr('x', width - kRight - 4)
          .attr('y', y(facts.peak_bytes) + 13)
          .attr('text-anchor', 'end')
          .attr('fill', 'var(--ink)')
          .style('font', '11.5px var(--sans)')
          .style('paint-order', 'stroke')
          .attr('stroke', 'var(--panel)')
          .attr('stroke-width', 3)
          .text(`allocated ${Format.bytes(facts.peak_bytes)}`);
      svg.append('g')
          .attr('class', 'axis')
          .attr('transform', `translate(${kLeft},0)`)
          .call(d3.axisLeft(y).tickValues(ticks(y, 5)).tickFormat(Format.bytes));
      svg.append('g')
          .attr('class', 'axis')
          .attr('transform', `translate(0,${kArea - kAxis})`)
          .call(d3.axisBottom(x).ticks(Math.max(3, Math.floor(width / 120))).tickFormat(Format.seconds));
      svg.on('mousemove', () => {
           const time = x.invert(d3.mouse(svg.node())[0]);
           const bin = Math.min(Math.max(Math.floor(time / plan.step_s * bins), 0), bins - 1);
           Elements.showHint(d3.event, [
             h('b', {}, Format.seconds(time)), `${Format.bytes(d3.sum(order, (name) => rows[bin][name]))} live, of it`,
             ...[...order]
                 .reverse()
                 .filter((name) => rows[bin][name])
                 .map((name) => h('span', {}, Elements.swatch(name), `${name} ${Format.bytes(rows[bin][name])}`))
           ]);
         }).on('mouseleave', Elements.hideHint);
      area.replaceChildren(svg.node());
    };
    const redrawArea = Elements.drawn(area, drawArea);

    // The map, on a canvas: there may be ten thousands of lives.
    const canvas = h('canvas', {
      tabindex: 0,
      role: 'img',
      'aria-label': `Where in the arena of stage ${
          stage} tensors lie over the step. Arrow keys go from tensor to tensor at the peak.`
    });
    const map = h('div', {class: 'chart'}, canvas);
    const context = canvas.getContext('2d');
    const detail = h('div', {class: 'detail'}, 'Point at a tensor of the map, or press an arrow key.');
    let lives = null, chosen = null;
    const place = d3.scaleLinear().domain([0, facts.peak_bytes]).range([kMap - kAxis, 4]);
    const drawMap = (width) => {
      lives = lives || livesOf(plan, stage);
      x.domain([Data.view.begin, Data.view.end]).range([kLeft, width - kRight]);
      const ratio = devicePixelRatio || 1;
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(kMap * ratio);
      canvas.style.height = `${kMap}px`;
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.clearRect(0, 0, width, kMap);
      context.fillStyle = color('idle');
      context.fillRect(kLeft, 4, width - kLeft - kRight, kMap - kAxis - 4);
      const paints = categories.map(color), panel = color('panel');
      const {category, name} = plan.memory.stages[stage].tensors;
      context.save();
      context.beginPath();
      context.rect(kLeft, 0, width - kLeft - kRight, kMap - kAxis);
      context.clip();
      context.font = '11px system-ui, sans-serif';
      context.textBaseline = 'middle';
      for (const life of lives) {
        if (life.end < Data.view.begin || life.begin > Data.view.end) continue;
        const [x0, x1, y1, y0] = [x(life.begin), x(life.end), place(life.offset), place(life.offset + life.bytes)];
        context.fillStyle = paints[category[life.t]];
        // On whole pixels, so that thin ones beside each other are solid.
        const top = Math.floor(y0 * ratio) / ratio;
        context.fillRect(x0, top, Math.max(x1 - x0, 0.7), Math.ceil(y1 * ratio) / ratio - top);
        if (x1 - x0 > 14 && y1 - y0 > 6) {
          context.strokeStyle = panel;
          context.lineWidth = 0.7;
          context.strokeRect(x0, y0, x1 - x0, y1 - y0);
        }
        const [left, right] = [Math.max(x0, kLeft), Math.min(x1, width - kRight)];
        if (y1 - y0 > 13 && right - left > 7 * name[life.t].length) {
          context.fillStyle = 'rgb(0 0 0 / .72)';
          context.fillText(name[life.t], left + 5, (y0 + y1) / 2);
        }
      }
      if (chosen) {
        context.strokeStyle = color('ink');
        context.lineWidth = 2;
        for (const life of lives.filter((it) => it.t === chosen.t)) {
          const [x0, x1, y1, y0] = [x(life.begin), x(life.end), place(life.offset), place(life.offset + life.bytes)];
          if (life === chosen || x1 - x0 > 3) context.strokeRect(x0, y0, Math.max(x1 - x0, 2), Math.max(y1 - y0, 2));
        }
      }
      context.restore();
      context.fillStyle = color('soft');
      context.textBaseline = 'middle';
      context.font = '11.5px system-ui, sans-serif';
      context.textAlign = 'right';
      for (const tick of ticks(place, 5)) context.fillText(Format.bytes(tick), kLeft - 8, place(tick));
      context.textAlign = 'center';
      for (const tick of x.ticks(Math.max(3, Math.floor(width / 120))))
        context.fillText(Format.seconds(tick), Math.min(x(tick), width - 24), kMap - kAxis / 2);
      context.textAlign = 'left';
    };
    const redrawMap = Elements.drawn(map, drawMap);
    Data.view.listeners.push(redrawArea, redrawMap);
    const find = (event) => {
      const {left, top} = canvas.getBoundingClientRect();
      const [time, offset] = [x.invert(event.clientX - left), place.invert(event.clientY - top)];
      const near = Math.abs(x.invert(1) - x.invert(0));
      let best = null;
      for (const life of lives || []) {
        if (life.begin - near > time) break;
        if (life.end + near >= time && life.offset <= offset && offset < life.offset + life.bytes) best = life;
      }
      return best;
    };
    const choose = (life, spoken) => {
      chosen = life;
      redrawMap();
      if (!life) return;
      const lines = describe(plan, stage, life);
      detail.replaceChildren(...lines.flatMap((line) => [line, ' · ']).slice(0, -1));
      if (spoken) Elements.say(lines.map((line) => line.textContent).join(', '));
    };
    canvas.addEventListener('mousemove', (event) => {
      const life = find(event);
      if (life)
        Elements.showHint(event, describe(plan, stage, life));
      else
        Elements.hideHint();
    });
    canvas.addEventListener('mouseleave', Elements.hideHint);
    canvas.addEventListener('click', (event) => choose(find(event), false));
    canvas.addEventListener('keydown', (event) => {
      const by = {ArrowDown: -1, ArrowUp: 1, ArrowLeft: -1, ArrowRight: 1}[event.key];
      if (event.key === 'Escape') return choose(null, false);
      if (!by || !lives) return;
      event.preventDefault();
      const time = (peak + 0.5) / bins * plan.step_s;
      const there = lives.filter((life) => life.begin <= time && time <= life.end).sort((a, b) => a.offset - b.offset);
      choose(there[Math.min(Math.max(there.indexOf(chosen) + by, 0), there.length - 1)], true);
    });

    return h(
        'div', {},
        h('p', {class: 'lead'},
          `At most ${Format.bytes(d3.sum(order, (name) => rows[peak][name]))} are live at one time in this step, ${
              Format.bytes(facts.lower_bound_bytes)} in the worst order that the plan permits. `,
          `The plan lays them out in ${Format.bytes(facts.peak_bytes)}${
              facts.headroom_bytes === null ? '' :
                                              `, which leaves ${Format.bytes(facts.headroom_bytes)} of the device`}.`),
        h('h3', {}, 'What is live'), area,
        Elements.legend([...order].reverse().map((name) => [name, name, Format.bytes(rows[peak][name])])),
        h('h3', {style: 'margin-top: 20px'}, 'Where it lies'), map, detail);
  };

  const largest = (plan) => {
    const {memory} = plan.explain;
    return h(
        'div', {class: 'panel'}, h('h3', {}, `The largest at the peak of stage ${memory.stage}`),
        Elements.table(
            'Largest tensors',
            [
              {name: 'Tensor', value: (it) => it.name, show: (it) => it.name, mono: true},
              {name: 'Of a rank', value: (it) => it.type, show: (it) => it.type, mono: true},
              {name: 'Category', value: (it) => it.category, show: (it) => [Elements.swatch(it.category), it.category]},
              {name: 'Count', value: (it) => it.tensors, show: (it) => Format.count(it.tensors), num: true},
              {name: 'Bytes', value: (it) => it.bytes, show: (it) => Format.bytes(it.bytes), num: true},
              {name: 'Made at', value: (it) => it.location, show: (it) => it.location, where: true},
            ],
            memory.largest.slice(0, 12)));
  };

  const render = (plans) => plans.map((plan, p) => {
    const shown = h('div', {});
    const show = (stage) => shown.replaceChildren(stageView(plan, stage, 'AB'[p]));
    const most =
        plan.stages.reduce((best, stage) => (stage.peak_bytes > plan.stages[best].peak_bytes ? stage.stage : best), 0);
    show(most);
    return [
      h('div', {class: 'panel long'}, plans.length > 1 ? h('p', {}, Headline.name(plans, p)) : null,
        plan.stages.length > 1 ?
            h('div', {class: 'tools'},
              Elements.choice('Stage', plan.stages.map((stage) => `Stage ${stage.stage}`), most, show)) :
            null,
        shown),
      largest(plan)
    ];
  });
  return {render};
})();
