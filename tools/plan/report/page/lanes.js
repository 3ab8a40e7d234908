// The lanes of the step over time, and what an act of them is to a person.
const Lanes = (() => {
  const {h} = Elements;
  const kCompute = 22, kOther = 9, kGap = 2, kStage = 8, kAxis = 22, kLeft = 112;

  // Of one rank: a lane for what computes, and one for all that moves data, or one for every other stream.
  const ofRank = (streams, every) => {
    const computes = streams.filter((it) => it.kind === 'compute');
    const rest = streams.filter((it) => it.kind !== 'compute' && it.begin.length);
    const moves = rest.filter((it) => it.kind === 'communication');
    const others = every ? rest.map((it) => ({streams: [it], label: it.name})) :
        moves.length     ? [{streams: moves, label: 'communication'}] :
                           [];
    return [...computes.map((it) => ({streams: [it], main: true})), ...others];
  };

  // The lanes of all plans from the top, and their height: {plan, p, stage, streams, measured, main, label, y, height}.
  const of = (plans, every) => {
    const lanes = [];
    let y = kAxis + 4;
    const add = (place, streams) => {
      for (const lane of ofRank(streams, every)) {
        const name = place.measured ? 'measured' : `${plans.length > 1 ? `${'AB'[place.p]} ` : ''}stage ${place.s}`;
        const height = lane.main ? kCompute : kOther;
        lanes.push({...place, ...lane, label: lane.main ? name : lane.label, y, height});
        y += height + kGap;
      }
    };
    plans.forEach((plan, p) => plan.timeline.stages.forEach((stage, s) => {
      add({plan, p, stage, s, measured: false}, stage.streams);
      const measured = plan.measured && plan.measured.stages[s];
      if (measured) add({plan, p, stage, s, measured: true}, measured.streams);
      y += kStage;
    }));
    return {lanes, height: y};
  };

  // The first act that ends after `time`: acts of a stream do not overlap.
  const after = (stream, time) => d3.bisector((end) => end).right(stream.end, time);

  const kernelsText = (plan, rows) => {
    const counts =
        d3.nest().key((name) => name).rollup((all) => all.length).entries(rows.map((k) => plan.kernels[k].name));
    const words = counts.map(({key, value}) => (value > 1 ? `${key} ×${value}` : key));
    return words.length > 12 ? `${words.slice(0, 12).join(', ')}, …` : words.join(', ');
  };

  // Lines for a hint: an act is {lane, stream, i}.
  const describe = ({lane, stream, i}) => {
    const {actors} = lane.stage;
    const a = stream.actor[i];
    const [begin, end] = [stream.begin[i], stream.end[i]];
    const place = [
      `stage ${lane.s}, ${stream.name}`, actors.step[a] ? 'once a step' : `micro-batch ${stream.micro[i]}`,
      ...(lane.measured ? ['measured'] : [])
    ];
    const lines = [
      h('b', {}, actors.name[a]),
      h('span', {}, place.join(', ')),
      h('span', {}, `${Format.seconds(end - begin)} from ${Format.seconds(begin)}`),
    ];
    if (!actors.what[a]) return [...lines, h('i', {}, kernelsText(lane.plan, actors.kernels[a]))];
    const over = actors.over[a] ? ` over ${actors.over[a]}` : '';
    lines.push(h('span', {}, `${actors.what[a]}${over}, ${Format.bytes(actors.bytes[a])} sent by a rank`));
    if (!lane.measured) {
      const exposed = stream.exposed[i] * 1e-9;
      lines.push(
          h('span', {}, exposed > 0 ? `exposed: ${Format.seconds(exposed)} of the step` : 'hidden behind computation'));
    }
    if (actors.location[a]) lines.push(h('i', {class: 'mono'}, actors.location[a]));
    return lines;
  };

  return {kLeft, kAxis, of, after, describe};
})();
