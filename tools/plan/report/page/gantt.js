// The step over time: lanes that one can zoom, point at, and walk through by the keyboard.
const Gantt = (() => {
  const {h} = Elements;
  const {kLeft} = Lanes;
  const kFewStreams = 14;  // that are shown without being asked for

  // A canvas of lanes: its state, and what changes it.
  const chartOf = (plans, stages, every) => {
    const canvas = h('canvas', {
      tabindex: 0,
      role: 'img',
      id: 'gantt-canvas',
      'aria-describedby': 'gantt-keys',
      'aria-label':
          `The step over time, ${stages} stages, ${Format.seconds(Data.view.all)}. Arrow keys go from act to act.`
    });
    const chart = h('div', {class: 'chart'}, canvas);
    const detail = h('div', {class: 'detail', id: 'gantt-detail'}, 'Point at an act, or press an arrow key.');
    const scene = {...Lanes.of(plans, every), plans, canvas, scale: d3.scaleLinear(), arrows: stages > 1, focus: null};
    const redraw = Elements.drawn(chart, (width) => {
      scene.width = width;
      Painter.draw(scene);
    });
    Data.watch(chart, redraw);

    const find = (event) => {
      const {left, top} = canvas.getBoundingClientRect();
      const [x, y] = [event.clientX - left, event.clientY - top];
      const lane = scene.lanes.find((it) => y >= it.y - 1 && y < it.y + it.height + 1);
      if (!lane || x < kLeft) return null;
      const [from, to] = [scene.scale.invert(x - 1.5), scene.scale.invert(x + 1.5)];
      for (const stream of lane.streams) {
        const i = Lanes.after(stream, from);
        if (i < stream.begin.length && stream.begin[i] <= to) return {lane, stream, i};
      }
      return null;
    };
    const focus = (found, spoken = false) => {
      scene.focus = found;
      redraw();
      if (found) Elements.showDetail(detail, Lanes.describe(found), spoken);
    };
    const change = (to) => {
      Object.assign(scene, to);
      redraw();
    };
    return {chart, canvas, detail, scene, find, focus, change};
  };

  // d3.zoom gives wheel, pinches and drags; the part of the step that is shown lives in Data.view.
  const pointWith = ({canvas, scene, find, focus}) => {
    const whole = () => d3.scaleLinear().domain([0, Data.view.all]).range([kLeft, scene.width]);
    const held = (event) => event.type !== 'wheel' || event.ctrlKey || event.shiftKey || event.altKey;
    const zoom = d3.zoom().scaleExtent([1, 1e6]).filter(() => !d3.event.button && held(d3.event)).on('zoom', () => {
      if (d3.event.sourceEvent) Data.look(...d3.event.transform.rescaleX(whole()).domain());
    });
    const unitOf = ({stream, i}) => (stream.units || []).find((unit) => unit.first <= i && i <= unit.last) ||
        {begin: stream.begin[i], end: stream.end[i]};
    const lookAt = (found) => {
      if (!found) return Data.look(0, Data.view.all);
      const {begin, end} = unitOf(found);
      Data.look(begin - (end - begin) / 2, end + (end - begin) / 2);
    };
    d3.select(canvas)
        .call(zoom)
        .on('dblclick.zoom', null)
        .on('mousemove',
            () => {
              const found = find(d3.event);
              if (found)
                Elements.showHint(d3.event, Lanes.describe(found));
              else
                Elements.hideHint();
            })
        .on('mouseleave', Elements.hideHint)
        .on('click', () => focus(find(d3.event)))
        .on('dblclick', () => lookAt(find(d3.event)));
    // Others may have changed what is shown.
    Data.watch(canvas, () => {
      const k = Data.view.all / (Data.view.end - Data.view.begin);
      canvas.__zoom = d3.zoomIdentity.translate(kLeft - whole()(Data.view.begin) * k, 0).scale(k);
    });
  };

  // What keys and buttons do.
  const movesOf = ({scene, focus}) => {
    const clamp = (i, list) => Math.min(Math.max(i, 0), list.length - 1);
    const zoomBy = (factor) => {
      const {begin, end} = Data.view;
      const {stream, i} = scene.focus || {};
      const at = stream ? (stream.begin[i] + stream.end[i]) / 2 : (begin + end) / 2;
      const middle = at > begin && at < end ? at : (begin + end) / 2;
      Data.look(middle - (middle - begin) * factor, middle + (end - middle) * factor);
    };
    const go = (lane, time) => {
      const stream = lane.streams.find((it) => it.begin.length);
      focus({lane, stream, i: clamp(Lanes.after(stream, time), stream.begin)}, true);
    };
    const busy = () => scene.lanes.filter((lane) => lane.streams.some((it) => it.begin.length));
    const step = (by) => {
      if (!scene.focus) return go(busy()[0], Data.view.begin);
      const {lane, stream, i} = scene.focus;
      const next = clamp(i + by, stream.begin);
      focus({lane, stream, i: next}, true);
      const half = (Data.view.end - Data.view.begin) / 2;
      const shown = stream.begin[next] >= Data.view.begin && stream.end[next] <= Data.view.end;
      if (!shown) Data.look(stream.begin[next] - half, stream.begin[next] + half);
    };
    const climb = (by) => {
      if (!scene.focus) return go(busy()[0], Data.view.begin);
      const {lane, stream, i} = scene.focus;
      go(busy()[clamp(busy().indexOf(lane) + by, busy())], stream.begin[i]);
    };
    const reset = () => Data.look(0, Data.view.all);
    const leave = () => {
      focus(null);
      reset();
    };
    return {zoomBy, step, climb, reset, leave};
  };

  const listen = (canvas, {zoomBy, step, climb, reset, leave}) => {
    const keys = {
      ArrowLeft: () => step(-1),
      ArrowRight: () => step(1),
      ArrowUp: () => climb(-1),
      ArrowDown: () => climb(1),
      '+': () => zoomBy(0.5),
      '=': () => zoomBy(0.5),
      '-': () => zoomBy(2),
      0: reset,
      Home: reset,
      Escape: leave,
    };
    canvas.addEventListener('keydown', (event) => {
      if (!keys[event.key] || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      keys[event.key]();
    });
  };

  const tools = (chart, moves, stages, plans, every) => {
    const button = (text, label, press) =>
        h('button', {type: 'button', class: 'button', 'aria-label': label, onclick: press}, text);
    const zooming =
        h('div', {class: 'group', role: 'group', 'aria-label': 'Zoom'}, button('−', 'Zoom out', () => moves.zoomBy(2)),
          button('+', 'Zoom in', () => moves.zoomBy(0.5)), button('Whole step', 'Show the whole step', moves.reset));
    const keys = ['←', '→', '↑', '↓', '+', '−', '0'].map((key) => h('kbd', {}, key));
    return h(
        'div', {class: 'tools'}, zooming,
        stages > 1 ? Elements.toggle('Transfers', true, (arrows) => chart.change({arrows})) : null,
        Elements.toggle('Every stream', every, (on) => chart.change({...Lanes.of(plans, on), focus: null})),
        h('span', {class: 'keys push', id: 'gantt-keys'}, 'Scroll with ', h('kbd', {}, 'Ctrl'),
          ' to zoom, drag to move · keys ', keys));
  };

  const legend = (plans) => {
    const has = (phase) => plans.some(
        ({timeline}) =>
            timeline.stages.some(({actors}) => actors.phase.some((it, a) => it === phase && !actors.what[a])));
    return Elements.legend([
      ['forward', 'F forward'], ['backward', 'B backward'], ...(has(3) ? [['weight', 'W its weight part']] : []),
      ...(has(4) ? [['update', 'U update']] : []), ...(has(0) ? [['other', 'O other work']] : []),
      ['comm', 'communication, hidden'], ['exposed', 'communication, exposed'], ['idle', 'idle']
    ]);
  };

  const measuredText = ({step, steps, stages}) =>
      `Beside the prediction: step ${step} of the trace, the median of ${steps}, on rank ` +
      `${stages.filter(Boolean).map((it) => it.rank).join(' and ')}. ` +
      'A receive lasts from when its rank is ready for it (pale).';

  const render = (plans) => {
    const stages = d3.sum(plans, ({timeline}) => timeline.stages.length);
    const busy =
        plans.flatMap(({timeline}) => timeline.stages).flatMap((it) => it.streams).filter((it) => it.begin.length);
    const every = busy.length <= kFewStreams;
    const chart = chartOf(plans, stages, every);
    const moves = movesOf(chart);
    pointWith(chart);
    listen(chart.canvas, moves);
    const measured = plans.filter((plan) => plan.measured).map((plan) => measuredText(plan.measured));
    return h(
        'div', {class: 'panel long'}, tools(chart, moves, stages, plans, every),
        measured.length ? h('p', {class: 'lead'}, measured) : null, chart.chart, legend(plans), chart.detail);
  };
  return {render};
})();
