// Draws lanes on a canvas: units as bars, their acts where there is room, transfers as arrows.
const Painter = (() => {
  const {color} = Elements;
  const {kLeft, kAxis} = Lanes;
  const kRoom = 60;      // pixels from which on the acts of a unit are told apart
  const kArrows = 1500;  // more are no longer seen

  const colors = () => ({
    ...Object.fromEntries(
        ['comm', 'exposed', 'other', 'line', 'soft', 'idle', 'ink'].map((name) => [name, color(name)])),
    units: Data.kPhases.map((phase) => [color(phase), color(`${phase}-2`)]),
  });

  const box = (context, x0, x1, y, height) => context.fillRect(x0, y, Math.max(x1 - x0, 0.6), height);

  // A unit as one bar, as high as it is busy: within a unit a stream may wait too.
  const unitBar = ({context, scale}, lane, unit) => {
    const [x0, x1] = [scale(unit.begin), scale(unit.end)];
    const edge = x1 - x0 > 4 ? x1 - 1 : x1;
    const idle = lane.height * (1 - unit.busy);
    context.globalAlpha = 0.4;
    box(context, x0, edge, lane.y, idle);
    context.globalAlpha = 1;
    box(context, x0, edge, lane.y + idle, lane.height - idle);
  };

  const unitActs = ({context, scale, width}, lane, stream, unit) => {
    for (let i = unit.first; i <= unit.last; ++i) {
      const [x0, x1] = [scale(stream.begin[i]), scale(stream.end[i])];
      if (x1 < 0 || x0 > width) continue;
      context.globalAlpha = (i - unit.first) % 2 && x1 - x0 > 3 ? 0.86 : 1;
      box(context, x0, x1, lane.y, lane.height);
    }
    context.globalAlpha = 1;
  };

  const units = (scene, lane, stream) => {
    const {context, scale, width, paint} = scene;
    let drawn = -1;
    for (const unit of stream.units) {
      if (unit.end < Data.view.begin || unit.begin > Data.view.end) continue;
      const [x0, x1] = [scale(unit.begin), scale(unit.end)];
      if (x1 < drawn + 0.4) continue;  // less than can be seen beside the one before
      drawn = x1;
      context.fillStyle = paint.units[unit.phase][unit.step ? 0 : unit.micro % 2];
      if (x1 - x0 > kRoom && unit.last > unit.first)
        unitActs(scene, lane, stream, unit);
      else
        unitBar(scene, lane, unit);
      const [left, right] = [Math.max(x0, kLeft), Math.min(x1, width)];
      if (right - left < 8 + 6.4 * unit.label.length) continue;
      context.fillStyle = unit.busy > 0.6 ? '#fff' : paint.ink;
      context.fillText(unit.label, (left + right) / 2, lane.y + lane.height / 2 + 0.5);
    }
  };

  const acts = ({context, scale, paint}, lane, stream) => {
    const {actors} = lane.stage;
    let drawn = -1;
    for (let i = Lanes.after(stream, Data.view.begin); i < stream.begin.length; ++i) {
      if (stream.begin[i] > Data.view.end) break;
      const [x0, x1] = [scale(stream.begin[i]), scale(stream.end[i])];
      const exposed = stream.exposed[i] > 0;
      if (x1 < drawn + 0.4 && !exposed) continue;
      drawn = Math.max(drawn, x1);
      const what = actors.what[stream.actor[i]];
      context.fillStyle = !what ? paint.other : exposed ? paint.exposed : paint.comm;
      // A measured receive lasts from when the rank is ready for it: most of it is waiting.
      context.globalAlpha = lane.measured && what === 'receive' ? 0.25 : 1;
      box(context, x0, x1 - x0 > 4 ? x1 - 0.6 : x1, lane.y, lane.height);
    }
    context.globalAlpha = 1;
  };

  const arrow = (context, x0, y0, x1, y1) => {
    const up = y1 > y0 ? -5 : 5;
    context.beginPath();
    context.moveTo(x0, y0);
    context.bezierCurveTo(x0, (y0 + y1) / 2, x1, (y0 + y1) / 2, x1, y1);
    context.stroke();
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x1 - 3, y1 + up);
    context.lineTo(x1 + 3, y1 + up);
    context.fill();
  };

  // From where a tensor is sent to where it has arrived.
  const transfers = ({context, scale, lanes, plans, paint}) => {
    context.strokeStyle = context.fillStyle = paint.soft;
    context.lineWidth = 1;
    for (const [p, {timeline}] of plans.entries()) {
      const place = (s) => lanes.find((lane) => lane.p === p && lane.s === s && lane.main && !lane.measured);
      for (const [source, sender, target, receiver] of timeline.transfers) {
        const [from, to] = [place(source), place(target)];
        const arrives = timeline.stages[target].acts[receiver];
        const shown = [...timeline.stages[source].acts[sender]].filter(
            ([, [begin, end]]) => end >= Data.view.begin && begin <= Data.view.end);
        if (shown.length * timeline.transfers.length > kArrows) continue;
        const [y0, y1] = to.y > from.y ? [from.y + from.height, to.y] : [from.y, to.y + to.height];
        for (const [micro, [begin]] of shown) arrow(context, scale(begin), y0, scale(arrives.get(micro)[1]), y1);
      }
    }
  };

  const axis = ({context, scale, width, height, paint}) => {
    context.textAlign = 'center';
    for (const tick of scale.ticks(Math.max(3, Math.floor((width - kLeft) / 110)))) {
      const x = Math.round(scale(tick)) + 0.5;
      context.fillStyle = paint.line;
      context.fillRect(x, kAxis, 1, height - kAxis);
      context.fillStyle = paint.soft;
      context.fillText(Format.seconds(tick), Math.min(Math.max(x, kLeft + 12), width - 24), kAxis / 2);
    }
  };

  const names = ({context, lanes, paint}) => {
    context.textAlign = 'left';
    for (const lane of lanes) {
      context.fillStyle = lane.main && !lane.measured ? paint.ink : paint.soft;
      context.font = `${
          lane.measured && lane.main ? 'italic 12px' :
              lane.main              ? '600 12px' :
                                       '10px'} system-ui, sans-serif`;
      context.fillText(lane.label.slice(0, 20), lane.main ? 0 : 10, lane.y + lane.height / 2 + 0.5);
    }
  };

  const frame = ({context, scale, paint}, {lane, stream, i}) => {
    context.strokeStyle = paint.ink;
    context.lineWidth = 2;
    const [x0, x1] = [scale(stream.begin[i]), scale(stream.end[i])];
    context.strokeRect(x0 - 1, lane.y - 1, Math.max(x1 - x0, 2) + 2, lane.height + 2);
  };

  // scene: {canvas, scale, width, height, lanes, plans, arrows, focus}; its scale is set.
  const draw = (it) => {
    const context = Elements.sized(it.canvas, it.width, it.height);
    const scene = {...it, context, paint: colors()};
    const {scale, width, height, lanes, paint} = scene;
    scale.domain([Data.view.begin, Data.view.end]).range([kLeft, width]);
    context.font = '11.5px system-ui, sans-serif';
    context.textBaseline = 'middle';
    axis(scene);
    context.save();
    context.beginPath();
    context.rect(kLeft, 0, width - kLeft, height);
    context.clip();
    for (const lane of lanes) {
      context.fillStyle = paint.idle;
      context.fillRect(kLeft, lane.y, width - kLeft, lane.height);
      for (const stream of lane.streams) (stream.units ? units : acts)(scene, lane, stream);
    }
    if (scene.arrows) transfers(scene);
    if (scene.focus) frame(scene, scene.focus);
    context.restore();
    names(scene);
  };
  return {draw};
})();
