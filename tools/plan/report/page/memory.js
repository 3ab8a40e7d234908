// Memory over the step, and where in the arena each tensor lies while it lives.
const Memory = (() => {
  const {h, color} = Elements;
  const kLeft = 70, kRight = 12, kArea = 230, kMap = 320, kAxis = 22;
  // From below: what stays, then what comes and goes.
  const kOrder = ['parameters', 'cache', 'optimizer', 'gradients', 'communication', 'workspace', 'activations'];

  const timeScale = (width) => d3.scaleLinear().domain([Data.view.begin, Data.view.end]).range([kLeft, width - kRight]);
  const timeTicks = (x, width) =>
      x.ticks(Math.max(3, Math.floor(width / 120))).filter((tick) => x(tick) < width - kRight - 14);
  // The bytes that are live in each part of a stage's step.
  const liveOf = (plan, stage) => {
    const {live} = plan.memory.stages[stage];
    const keys = kOrder.filter((name) => live[name].some((bytes) => bytes > 0));
    const rows =
        d3.range(live[kOrder[0]].length).map((i) => Object.fromEntries(keys.map((name) => [name, live[name][i]])));
    const totals = rows.map((row) => d3.sum(keys, (name) => row[name]));
    return {keys, rows, totals, peak: d3.scan(totals, d3.descending)};
  };

  const areaOf = (plan, stage, live, id) => {
    const {keys, rows, totals, peak} = live;
    const allocated = plan.stages[stage].peak_bytes;
    const chart = h('div', {class: 'chart'});
    const y = d3.scaleLinear().domain([0, allocated * 1.06]).range([kArea - kAxis, 6]);
    const layers = d3.stack().keys(keys)(rows);

    const showHint = (x, event, svg) => {
      const time = x.invert(d3.clientPoint(svg, event)[0]);
      const i = Math.min(Math.max(Math.floor(time / plan.step_s * rows.length), 0), rows.length - 1);
      const parts = [...keys].reverse().filter((name) => rows[i][name]);
      Elements.showHint(event, [
        h('b', {}, Format.seconds(time)), `${Format.bytes(totals[i])} live, of it`,
        ...parts.map((name) => h('span', {}, Elements.swatch(name), `${name} ${Format.bytes(rows[i][name])}`))
      ]);
    };

    const draw = (width) => {
      const x = timeScale(width);
      const inner = width - kLeft - kRight;
      const svg = d3.create('svg').attr('viewBox', `0 0 ${width} ${kArea}`).attr('height', kArea).attr('role', 'img');
      svg.attr(
          'aria-label',
          `Memory of a rank of stage ${stage} over the step: at most ${Format.bytes(totals[peak])}, of ${
              Format.bytes(allocated)} allocated`);
      svg.append('clipPath').attr('id', id).append('rect').attr('x', kLeft).attr('width', inner).attr('height', kArea);
      const left = d3.axisLeft(y).tickValues(Elements.byteTicks(y));
      const axis = (name) => svg.append('g').attr('class', name);
      axis('grid').attr('transform', `translate(${kLeft},0)`).call(left.tickSize(-inner).tickFormat(''));
      const shape = d3.area()
                        .x((_, i) => x(i / rows.length * plan.step_s))
                        .y0(([low]) => y(low))
                        .y1(([, high]) => y(high))
                        .curve(d3.curveStepAfter);
      const shown = svg.append('g').attr('clip-path', `url(#${id})`);
      for (const layer of layers) {
        const closed = [...layer, layer[rows.length - 1]];
        shown.append('path').attr('class', 'layer').attr('d', shape(closed)).attr('fill', `var(--${layer.key})`);
      }
      const line = shown.append('line').attr('class', 'limit').attr('x1', kLeft).attr('x2', width - kRight);
      line.attr('y1', y(allocated)).attr('y2', y(allocated));
      svg.append('text')
          .attr('class', 'note')
          .attr('x', width - kRight - 4)
          .attr('y', y(allocated) + 14)
          .text(`allocated ${Format.bytes(allocated)}`);
      axis('axis').attr('transform', `translate(${kLeft},0)`).call(left.tickSize(5).tickFormat(Format.bytes));
      axis('axis')
          .attr('transform', `translate(0,${kArea - kAxis})`)
          .call(d3.axisBottom(x).tickValues(timeTicks(x, width)).tickFormat(Format.seconds));
      svg.on('mousemove', () => showHint(x, d3.event, svg.node())).on('mouseleave', Elements.hideHint);
      chart.replaceChildren(svg.node());
    };
    Data.watch(chart, Elements.drawn(chart, draw));
    return chart;
  };

  // The rectangles of a stage's map: each life of each tensor, in the order of their beginnings.
  const livesOf = (plan, stage) => {
    const {tensors} = plan.memory.stages[stage];
    const {acts} = plan.timeline.stages[stage];
    const lives = [];
    tensors.name.forEach((_, t) => {
      const {[t]: offsets} = tensors.offsets;
      const bytes = tensors.bytes[t];
      if (tensors.lives[t] === null)
        return lives.push({t, begin: 0, end: plan.step_s, offset: offsets[0], bytes, micro: null});
      for (const [first, micro, last, lastMicro, slot, count] of tensors.lives[t]) {
        for (let i = 0; i < count; ++i) {
          const [begin] = acts[first].get(micro + i);
          const [, end] = acts[last].get(lastMicro + i);
          const offset = offsets[(slot + i) % offsets.length];
          lives.push({t, begin, end, offset, bytes, micro: count > 1 ? micro + i : null});
        }
      }
    });
    return lives.sort((a, b) => a.begin - b.begin);
  };

  const describe = (plan, stage, life) => {
    const {tensors} = plan.memory.stages[stage];
    const {t, begin, end, micro} = life;
    const category = plan.memory.categories[tensors.category[t]];
    const span = `lives ${Format.seconds(end - begin)}, from ${Format.seconds(begin)}`;
    return [
      h('b', {}, tensors.name[t]),
      h('span', {}, `${tensors.type[t]} · ${Format.bytes(tensors.bytes[t])} · ${category}`),
      h('span', {},
        tensors.lives[t] === null ? 'lives from step to step' :
                                    span + (micro === null ? '' : `, for micro-batch ${micro}`)),
      h('span', {}, `at byte ${Format.count(life.offset)} of the arena`),
      ...(tensors.location[t] ? [h('i', {class: 'mono'}, tensors.location[t])] : []),
    ];
  };

  const drawMap = (plan, stage, canvas, width, place, lives, chosen) => {
    const context = Elements.sized(canvas, width, kMap);
    const ratio = canvas.width / width;
    const x = timeScale(width);
    const {category, name} = plan.memory.stages[stage].tensors;
    const paints = plan.memory.categories.map(color), panel = color('panel');
    context.fillStyle = color('idle');
    context.fillRect(kLeft, 4, width - kLeft - kRight, kMap - kAxis - 4);
    context.save();
    context.beginPath();
    context.rect(kLeft, 0, width - kLeft - kRight, kMap - kAxis);
    context.clip();
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'middle';
    for (const life of lives) {
      if (life.end < Data.view.begin || life.begin > Data.view.end) continue;
      const [x0, x1, y0, y1] = [x(life.begin), x(life.end), place(life.offset + life.bytes), place(life.offset)];
      // On whole pixels, so that thin ones beside each other are solid.
      const top = Math.floor(y0 * ratio) / ratio;
      context.fillStyle = paints[category[life.t]];
      context.fillRect(x0, top, Math.max(x1 - x0, 0.7), Math.ceil(y1 * ratio) / ratio - top);
      if (x1 - x0 > 10 && y1 - y0 > 4) {
        context.strokeStyle = panel;
        context.lineWidth = 0.7;
        context.strokeRect(x0, y0, x1 - x0, y1 - y0);
      }
      const [left, right] = [Math.max(x0, kLeft), Math.min(x1, width - kRight)];
      if (y1 - y0 < 13 || right - left < 7 * name[life.t].length) continue;
      context.fillStyle = 'rgb(0 0 0 / .72)';
      context.fillText(name[life.t], left + 5, (y0 + y1) / 2);
    }
    if (chosen) {
      context.strokeStyle = color('ink');
      context.lineWidth = 2;
      const [x0, x1, y0, y1] =
          [x(chosen.begin), x(chosen.end), place(chosen.offset + chosen.bytes), place(chosen.offset)];
      context.strokeRect(x0, y0, Math.max(x1 - x0, 2), Math.max(y1 - y0, 2));
    }
    context.restore();
    context.fillStyle = color('soft');
    context.font = '11.5px system-ui, sans-serif';
    context.textBaseline = 'middle';
    context.textAlign = 'right';
    for (const tick of Elements.byteTicks(place)) context.fillText(Format.bytes(tick), kLeft - 8, place(tick));
    context.textAlign = 'center';
    for (const tick of timeTicks(x, width)) context.fillText(Format.seconds(tick), x(tick), kMap - kAxis / 2);
  };

  // On a canvas: there may be ten thousands of lives.
  const mapOf = (plan, stage, peak_s) => {
    const canvas = h('canvas', {
      tabindex: 0,
      role: 'img',
      'aria-label': `Where in the arena of stage ${stage} tensors lie over the step. ` +
          'Arrow keys go from tensor to tensor at the peak.'
    });
    const chart = h('div', {class: 'chart'}, canvas);
    const detail = h('div', {class: 'detail'}, 'Point at a tensor of the map, or press an arrow key.');
    const place = d3.scaleLinear().domain([0, plan.stages[stage].peak_bytes]).range([kMap - kAxis, 4]);
    const lives = livesOf(plan, stage);
    let chosen = null, width = 0;
    const redraw = Elements.drawn(chart, (wide) => {
      width = wide;
      drawMap(plan, stage, canvas, width, place, lives, chosen);
    });
    Data.watch(chart, redraw);

    const find = (event) => {
      const {left, top} = canvas.getBoundingClientRect();
      const x = timeScale(width);
      const [from, to] = [x.invert(event.clientX - left - 1), x.invert(event.clientX - left + 1)];
      const offset = place.invert(event.clientY - top);
      let found = null;
      for (const life of lives) {
        if (life.begin > to) break;
        if (life.end >= from && life.offset <= offset && offset < life.offset + life.bytes) found = life;
      }
      return found;
    };
    const choose = (life, spoken) => {
      chosen = life;
      redraw();
      if (life) Elements.showDetail(detail, describe(plan, stage, life), spoken);
    };
    const atPeak = lives.filter(({begin, end}) => begin <= peak_s && peak_s <= end).sort((a, b) => a.offset - b.offset);
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
      if (event.key === 'Escape') return choose(null, false);
      const by = {ArrowDown: -1, ArrowUp: 1, ArrowLeft: -1, ArrowRight: 1}[event.key];
      if (!by) return;
      event.preventDefault();
      choose(atPeak[Math.min(Math.max(atPeak.indexOf(chosen) + by, 0), atPeak.length - 1)], true);
    });
    return [chart, detail];
  };

  const stageView = (plan, stage, id) => {
    const facts = plan.stages[stage];
    const live = liveOf(plan, stage);
    const peak_s = (live.peak + 0.5) / live.rows.length * plan.step_s;
    const left =
        facts.headroom_bytes === null ? '' : `, which leaves ${Format.bytes(facts.headroom_bytes)} of the device`;
    const worst = Format.bytes(facts.lower_bound_bytes);
    return [
      h('p', {class: 'lead'},
        `At most ${Format.bytes(live.totals[live.peak])} are live at one time in this step, ${
            worst} in the worst order `,
        `that the plan permits. The plan lays them out in ${Format.bytes(facts.peak_bytes)}${left}.`),
      h('h3', {}, 'What is live'), areaOf(plan, stage, live, id),
      Elements.legend([...live.keys].reverse().map((name) => [name, name, Format.bytes(live.rows[live.peak][name])])),
      h('h3', {class: 'next'}, 'Where it lies'), ...mapOf(plan, stage, peak_s)
    ];
  };

  const largest = (plan) => {
    const {memory} = plan.explain;
    const text = (name, key, more) => ({name, value: (it) => it[key], show: (it) => it[key], ...more});
    const columns = [
      text('Tensor', 'name', {mono: true}),
      text('Of a rank', 'type', {mono: true}),
      text('Category', 'category', {show: (it) => [Elements.swatch(it.category), it.category], tight: true}),
      text('Count', 'tensors', {show: (it) => Format.count(it.tensors), num: true}),
      text('Bytes', 'bytes', {show: (it) => Format.bytes(it.bytes), num: true}),
      text('Made at', 'location', {where: true}),
    ];
    return h(
        'div', {class: 'panel'}, h('h3', {}, `The largest at the peak of stage ${memory.stage}`),
        Elements.table('Largest tensors', columns, memory.largest.slice(0, 12)));
  };

  const ofPlan = (plans, p) => {
    const plan = plans[p];
    const shown = h('div', {});
    const show = (stage) => shown.replaceChildren(...stageView(plan, stage, `clip-${p}-${stage}`));
    const {stage} = plan.explain.memory;
    show(stage);
    const names = plan.stages.map((it) => `Stage ${it.stage}`);
    const choice = h('div', {class: 'tools'}, Elements.choice('Stage', names, stage, show));
    return [
      h('div', {class: 'panel long'}, plans.length > 1 ? h('p', {}, Headline.name(plans, p)) : null,
        names.length > 1 ? choice : null, shown),
      largest(plan)
    ];
  };
  const render = (plans) => plans.map((_, p) => ofPlan(plans, p));
  return {render};
})();
