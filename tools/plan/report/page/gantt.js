// The step over time: a lane for each stream of each stage, coloured by unit; acts appear as one looks closer.
const Gantt = (() => {
  const {h, color} = Elements;
  const kCompute = 22, kOther = 9, kGap = 2, kStage = 8, kAxis = 22, kLeft = 112;

  // The lanes of all plans, from the top: { y, height, stage, stream, label, measured }.
  const lanesOf = (plans, every) => {
    const lanes = [];
    let y = kAxis + 4;
    const add = (lane, height) => {
      lanes.push({...lane, y, height});
      y += height + kGap;
    };
    plans.forEach((plan, p) => {
      plan.timeline.stages.forEach((stage, s) => {
        const of = (streams, measured) => {
          const busy = streams.filter((stream) => stream.begin.length > 0 || stream.kind === 'compute');
          for (const stream of busy.filter((it) => it.kind === 'compute')) {
            add({
              plan,
              p,
              stage,
              stream,
              measured,
              label: measured ? 'measured' : `${plans.length > 1 ? 'AB'[p] + ' ' : ''}stage ${s}`
            },
                kCompute);
          }
          const rest = busy.filter((it) => it.kind !== 'compute');
          if (every)
            for (const stream of rest) add({plan, p, stage, stream, measured, label: stream.name}, kOther);
          else if (rest.some((it) => it.kind === 'communication' || it.begin.length))
            add({
              plan,
              p,
              stage,
              streams: rest.filter((it) => it.kind === 'communication'),
              measured,
              label: 'communication'
            },
                kOther);
        };
        of(stage.streams, false);
        const measured = plan.measured && plan.measured.stages[s];
        if (measured) of(measured.streams, true);
        y += kStage;
      });
    });
    return {lanes, height: y};
  };

  // The first act that ends after `time`: acts of a stream do not overlap.
  const after = (stream, time) => {
    let [low, high] = [0, stream.end.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (stream.end[middle] <= time)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  };

  const seconds = Format.seconds;

  const describe = (lane, stream, i) => {
    const {actors} = lane.stage;
    const a = stream.actor[i];
    const lines = [
      h('b', {}, actors.name[a]),
      h('span', {},
        `stage ${lane.stage.index}, ${stream.name}${
            actors.step[a] ? ', once a step' : `, micro-batch ${stream.micro[i]}`}${lane.measured ? ', measured' : ''}`)
    ];
    lines.push(h('span', {}, `${seconds(stream.end[i] - stream.begin[i])} from ${seconds(stream.begin[i])}`));
    if (actors.what[a]) {
      lines.push(
          h('span', {},
            `${actors.what[a]}${actors.over[a] ? ` over ${actors.over[a]}` : ''}, ${
                Format.bytes(actors.bytes[a])} sent by a rank`));
      if (!lane.measured)
        lines.push(
            h('span', {},
              stream.exposed[i] > 0 ? `exposed: ${seconds(stream.exposed[i] * 1e-9)} of the step` :
                                      'hidden behind computation'));
      if (actors.location[a]) lines.push(h('i', {class: 'mono'}, actors.location[a]));
    } else {
      const names = actors.kernels[a].map((k) => lane.plan.kernels[k].name);
      const counts = d3.nest().key((name) => name).rollup((all) => all.length).entries(names);
      lines.push(
          h('i', {},
            counts.slice(0, 12).map(({key, value}) => (value > 1 ? `${key} ×${value}` : key)).join(', ') +
                (counts.length > 12 ? ', …' : '')));
    }
    return lines;
  };

  const render = (plans) => {
    const stages = plans.reduce((sum, plan) => sum + plan.timeline.stages.length, 0);
    const streams = plans.reduce(
        (sum, plan) => sum +
            plan.timeline.stages.reduce((all, stage) => all + stage.streams.filter((it) => it.begin.length).length, 0),
        0);
    const state = {every: streams <= 14, arrows: stages > 1, focus: null};
    const canvas = h('canvas', {
      tabindex: 0,
      role: 'img',
      id: 'gantt-canvas',
      'aria-describedby': 'gantt-keys',
      'aria-label': `The step over time, ${stages} stages, ${seconds(Data.view.all)}. Arrow keys go from act to act.`
    });
    const chart = h('div', {class: 'chart'}, canvas);
    const detail = h('div', {class: 'detail', id: 'gantt-detail'}, 'Point at an act, or press an arrow key.');
    const context = canvas.getContext('2d');
    let {lanes, height} = lanesOf(plans, state.every), width = 0;
    const scale = d3.scaleLinear();

    const box = (x, y, w, tall) => context.fillRect(x, y, Math.max(w, 0.6), tall);

    const drawUnits = (lane, stream, paint) => {
      const {begin, end} = Data.view;
      let edge = -1;
      for (const unit of stream.units) {
        if (unit.end < begin || unit.begin > end) continue;
        const [x0, x1] = [scale(unit.begin), scale(unit.end)];
        if (x1 < edge + 0.4) continue;  // less than can be seen beside the one before
        edge = x1;
        const inner = x1 - x0 > 60 && unit.last > unit.first;
        context.fillStyle = paint.units[unit.phase][unit.step ? 0 : unit.micro % 2];
        if (!inner) {
          // As high as it is busy: within a unit a stream may wait too.
          const wide = x1 - x0 - (x1 - x0 > 4 ? 1 : 0), idle = lane.height * (1 - unit.busy);
          context.globalAlpha = 0.4;
          box(x0, lane.y, wide, idle);
          context.globalAlpha = 1;
          box(x0, lane.y + idle, wide, lane.height - idle);
        } else {
          for (let i = unit.first; i <= unit.last; ++i) {
            const [a, b] = [scale(stream.begin[i]), scale(stream.end[i])];
            if (b < 0 || a > width) continue;
            context.globalAlpha = (i - unit.first) % 2 && b - a > 3 ? 0.86 : 1;
            box(a, lane.y, b - a, lane.height);
            context.globalAlpha = 1;
          }
        }
        const [left, right] = [Math.max(x0, kLeft), Math.min(x1, width)];
        if (right - left > 8 + 6.4 * unit.label.length) {
          context.fillStyle = unit.busy > 0.6 ? '#fff' : paint.ink;
          context.fillText(unit.label, (left + right) / 2, lane.y + lane.height / 2 + 0.5);
        }
      }
    };

    const drawActs = (lane, stream, paint) => {
      let edge = -1;
      for (let i = after(stream, Data.view.begin); i < stream.begin.length && stream.begin[i] < Data.view.end; ++i) {
        const [x0, x1] = [scale(stream.begin[i]), scale(stream.end[i])];
        const bad = !lane.measured && stream.exposed[i] > 0;
        if (x1 < edge + 0.4 && !bad) continue;
        edge = Math.max(edge, x1);
        const kind = Data.kindOf(lane.stage, stream.actor[i]);
        context.fillStyle = kind !== 'comm' ? paint.other : bad ? paint.exposed : paint.comm;
        // A measured receive lasts from when the rank is ready for it: most of it is waiting.
        context.globalAlpha = lane.measured && lane.stage.actors.what[stream.actor[i]] === 'receive' ? 0.25 : 1;
        box(x0, lane.y, x1 - x0 - (x1 - x0 > 4 ? 0.6 : 0), lane.height);
      }
      context.globalAlpha = 1;
    };

    // From where a tensor is sent to where it has arrived.
    const drawArrows = (paint) => {
      context.strokeStyle = context.fillStyle = paint.arrow;
      context.lineWidth = 1;
      for (const [p, plan] of plans.entries()) {
        const place = (s) => lanes.find(
            (lane) => lane.p === p && !lane.measured && lane.stage.index === s && lane.stream &&
                lane.stream.kind === 'compute');
        for (const [source, sender, target, receiver] of plan.timeline.transfers) {
          const from = place(source), to = place(target);
          const sends = plan.timeline.stages[source].acts[sender],
                receives = plan.timeline.stages[target].acts[receiver];
          const shown = [...sends].filter(([, [begin, end]]) => end >= Data.view.begin && begin <= Data.view.end);
          if (!shown.length || shown.length * plan.timeline.transfers.length > 1500) continue;
          for (const [micro, [begin]] of shown) {
            const end = (receives.get(micro) || [])[1];
            if (end === undefined) continue;
            const down = to.y > from.y;
            const [x0, y0, x1, y1] =
                [scale(begin), down ? from.y + from.height : from.y, scale(end), down ? to.y : to.y + to.height];
            context.beginPath();
            context.moveTo(x0, y0);
            context.bezierCurveTo(x0, (y0 + y1) / 2, x1, (y0 + y1) / 2, x1, y1);
            context.stroke();
            context.beginPath();
            context.moveTo(x1, y1);
            context.lineTo(x1 - 3, y1 + (down ? -5 : 5));
            context.lineTo(x1 + 3, y1 + (down ? -5 : 5));
            context.fill();
          }
        }
      }
    };

    const drawAxis = (paint) => {
      const ticks = scale.ticks(Math.max(3, Math.floor((width - kLeft) / 110)));
      context.textAlign = 'center';
      for (const tick of ticks) {
        const x = Math.round(scale(tick)) + 0.5;
        context.fillStyle = paint.line;
        context.fillRect(x, kAxis, 1, height - kAxis);
        context.fillStyle = paint.soft;
        context.fillText(seconds(tick), Math.min(Math.max(x, kLeft + 12), width - 24), kAxis / 2);
      }
    };

    const draw = (wide) => {
      width = wide;
      const ratio = devicePixelRatio || 1;
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      canvas.style.height = `${height}px`;
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.clearRect(0, 0, width, height);
      context.font = '11.5px system-ui, sans-serif';
      context.textBaseline = 'middle';
      scale.domain([Data.view.begin, Data.view.end]).range([kLeft, width]);
      const paint = {
        comm: color('comm'),
        exposed: color('exposed'),
        other: color('other'),
        line: color('line'),
        soft: color('soft'),
        idle: color('idle'),
        ink: color('ink'),
        arrow: color('soft'),
        units: Data.kPhases.map((phase) => [color(phase), color(`${phase}-2`)])
      };
      drawAxis(paint);
      context.save();
      context.beginPath();
      context.rect(kLeft, 0, width - kLeft, height);
      context.clip();
      for (const lane of lanes) {
        context.fillStyle = paint.idle;
        context.fillRect(kLeft, lane.y, width - kLeft, lane.height);
        if (lane.stream && lane.stream.units)
          drawUnits(lane, lane.stream, paint);
        else
          for (const stream of lane.streams || [lane.stream]) drawActs(lane, stream, paint);
      }
      if (state.arrows) drawArrows(paint);
      if (state.focus) {
        const {lane, stream, i} = state.focus;
        context.strokeStyle = paint.ink;
        context.lineWidth = 2;
        const [x0, x1] = [scale(stream.begin[i]), scale(stream.end[i])];
        context.strokeRect(x0 - 1, lane.y - 1, Math.max(x1 - x0, 2) + 2, lane.height + 2);
      }
      context.restore();
      context.textAlign = 'left';
      for (const lane of lanes) {
        const main = lane.height === kCompute;
        context.fillStyle = main && !lane.measured ? paint.ink : paint.soft;
        context.font = main ? '600 12px system-ui, sans-serif' : '10px system-ui, sans-serif';
        if (lane.measured && main) context.font = 'italic 12px system-ui, sans-serif';
        context.fillText(lane.label.slice(0, 20), main ? 0 : 10, lane.y + lane.height / 2 + 0.5);
      }
    };
    const redraw = Elements.drawn(chart, draw);
    Data.view.listeners.push(redraw);

    const find = (event) => {
      const {left, top} = canvas.getBoundingClientRect();
      const [x, y] = [event.clientX - left, event.clientY - top];
      const lane = lanes.find((it) => y >= it.y - 1 && y < it.y + it.height + 1);
      if (!lane || x < kLeft) return null;
      const [time, near] = [scale.invert(x), scale.invert(x + 1.5) - scale.invert(x)];
      for (const stream of lane.streams || [lane.stream]) {
        const i = after(stream, time - near);
        if (i < stream.begin.length && stream.begin[i] <= time + near) return {lane, stream, i};
      }
      return null;
    };
    const focus = (found, spoken) => {
      state.focus = found;
      redraw();
      if (!found) return;
      const lines = describe(found.lane, found.stream, found.i);
      detail.replaceChildren(...lines.flatMap((line) => [line, ' · ']).slice(0, -1));
      if (spoken) Elements.say(lines.map((line) => line.textContent).join(', '));
    };

    // d3.zoom gives the wheel, pinches and drags; the part of the step that is shown lives in Data.view.
    const zoom = d3.zoom()
                     .scaleExtent([1, 1e6])
                     .filter(
                         () => !d3.event.button &&
                             (d3.event.type !== 'wheel' || d3.event.ctrlKey || d3.event.shiftKey || d3.event.altKey ||
                              Data.view.end - Data.view.begin < 0.999 * Data.view.all))
                     .on('zoom', () => {
                       if (!d3.event.sourceEvent) return;
                       const all = d3.scaleLinear().domain([0, Data.view.all]).range([kLeft, width]);
                       const [begin, end] = d3.event.transform.rescaleX(all).domain();
                       Data.look(begin, end);
                     });
    const selection = d3.select(canvas).call(zoom).on('dblclick.zoom', null);
    // Others may have changed what is shown.
    Data.view.listeners.push(() => {
      const k = Data.view.all / (Data.view.end - Data.view.begin);
      const all = d3.scaleLinear().domain([0, Data.view.all]).range([kLeft, width]);
      canvas.__zoom = d3.zoomIdentity.translate(kLeft - all(Data.view.begin) * k, 0).scale(k);
    });
    selection
        .on('mousemove',
            () => {
              const found = find(d3.event);
              if (!found) return Elements.hideHint();
              Elements.showHint(d3.event, describe(found.lane, found.stream, found.i));
            })
        .on('mouseleave', Elements.hideHint)
        .on('click', () => focus(find(d3.event), false))
        .on('dblclick', () => {
          const found = find(d3.event);
          if (!found) return Data.look(0, Data.view.all);
          const unit = (found.stream.units || []).find((it) => it.first <= found.i && found.i <= it.last) ||
              {begin: found.stream.begin[found.i], end: found.stream.end[found.i]};
          const more = (unit.end - unit.begin) * 0.5;
          Data.look(unit.begin - more, unit.end + more);
        });

    const zoomBy = (factor) => {
      const {begin, end} = Data.view;
      const at = state.focus ? (state.focus.stream.begin[state.focus.i] + state.focus.stream.end[state.focus.i]) / 2 :
                               (begin + end) / 2;
      const inside = at > begin && at < end ? at : (begin + end) / 2;
      Data.look(inside - (inside - begin) * factor, inside + (end - inside) * factor);
    };
    const reset = () => Data.look(0, Data.view.all);
    const go = (lane, time) => {
      const stream = (lane.streams || [lane.stream]).find((it) => it.begin.length > 0);
      if (!stream) return;
      focus({lane, stream, i: Math.min(after(stream, time), stream.begin.length - 1)}, true);
    };
    const step = (by) => {
      if (!state.focus) return go(lanes[0], Data.view.begin);
      const {lane, stream, i} = state.focus;
      const next = Math.min(Math.max(i + by, 0), stream.begin.length - 1);
      focus({lane, stream, i: next}, true);
      const {begin, end} = Data.view;
      if (stream.begin[next] < begin || stream.end[next] > end)
        Data.look(stream.begin[next] - (end - begin) / 2, stream.begin[next] + (end - begin) / 2);
    };
    const climb = (by) => {
      if (!state.focus) return go(lanes[0], Data.view.begin);
      const busy = lanes.filter((lane) => (lane.streams || [lane.stream]).some((it) => it.begin.length));
      const at = busy.indexOf(state.focus.lane);
      const lane = busy[Math.min(Math.max(at + by, 0), busy.length - 1)];
      go(lane, state.focus.stream.begin[state.focus.i]);
    };
    const kKeys = {
      ArrowLeft: () => step(-1),
      ArrowRight: () => step(1),
      ArrowUp: () => climb(-1),
      ArrowDown: () => climb(1),
      '+': () => zoomBy(0.5),
      '=': () => zoomBy(0.5),
      '-': () => zoomBy(2),
      0: reset,
      Home: reset,
      Escape: () => {
        focus(null);
        reset();
      }
    };
    canvas.addEventListener('keydown', (event) => {
      if (!kKeys[event.key] || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      kKeys[event.key]();
    });

    const button = (text, label, press) =>
        h('button', {type: 'button', class: 'button', 'aria-label': label, onclick: press}, text);
    const zooming =
        h('div', {class: 'group', role: 'group', 'aria-label': 'Zoom'}, button('−', 'Zoom out', () => zoomBy(2)),
          button('+', 'Zoom in', () => zoomBy(0.5)), button('Whole step', 'Show the whole step', reset));
    const arrows = stages > 1 ? Elements.toggle('Transfers', state.arrows, (on) => {
      state.arrows = on;
      redraw();
    }) : null;
    const every = Elements.toggle('Every stream', state.every, (on) => {
      state.every = on;
      state.focus = null;
      ({lanes, height} = lanesOf(plans, on));
      redraw();
    });
    const has = (phase) => plans.some(
        (plan) => plan.timeline.stages.some(
            (stage) => stage.actors.phase.some((it, a) => it === phase && !stage.actors.what[a])));
    const legend = Elements.legend([
      ['forward', 'F forward'], ['backward', 'B backward'], ...(has(3) ? [['weight', 'W its weight part']] : []),
      ...(has(4) ? [['update', 'U update']] : []), ...(has(0) ? [['other', 'O other work']] : []),
      ['comm', 'communication, hidden'], ['exposed', 'communication, exposed'], ['idle', 'idle']
    ]);
    const facts =
        plans
            .map(
                (plan) => plan.measured &&
                    `Beside the prediction: step ${plan.measured.step} of the trace, the median of ${
                              plan.measured.steps}, on rank ${
                              plan.measured.stages.filter(Boolean)
                                  .map((it) => it.rank)
                                  .join(' and ')}. A receive lasts from when its rank is ready for it (pale).`)
            .filter(Boolean);
    return h(
        'div', {class: 'panel long'},
        h('div', {class: 'tools'}, zooming, arrows, every,
          h('span', {class: 'keys push', id: 'gantt-keys'}, 'Scroll with ', h('kbd', {}, 'Ctrl'),
            ' to zoom, drag to move · keys ', h('kbd', {}, '←'), h('kbd', {}, '→'), h('kbd', {}, '↑'),
            h('kbd', {}, '↓'), ' ', h('kbd', {}, '+'), h('kbd', {}, '−'), ' ', h('kbd', {}, '0'))),
        facts.length ? h('p', {class: 'lead'}, facts) : null, chart, legend, detail);
  };
  return {render};
})();
