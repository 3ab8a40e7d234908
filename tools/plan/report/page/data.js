// The plan's data, unpacked, and looked up: acts by stream, and when each began.
const Data = (() => {
  const kPhases = ['other', 'forward', 'backward', 'weight', 'update'];
  const kLetters = ['O', 'F', 'B', 'W', 'U'];

  const unpack = async (id) => {
    const packed = Uint8Array.from(atob(document.getElementById(id).textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
    return new Response(stream).json();
  };

  const load = async () => {
    const [data, run] = await Promise.all([unpack('data'), unpack('run-data')]);
    data.plans.forEach(prepare);
    return {...data, run};
  };

  // Columns of gaps and lengths as beginnings and ends in seconds.
  const timed = (stream) => {
    const count = stream.ns.length;
    const begin = new Float64Array(count), end = new Float64Array(count);
    for (let i = 0, now = 0; i < count; ++i) {
      begin[i] = (now + stream.gap[i]) * 1e-9;
      now += stream.gap[i] + stream.ns[i];
      end[i] = now * 1e-9;
    }
    return {...stream, begin, end};
  };

  // Acts that belong together on a compute stream: one phase of a chunk for one micro-batch.
  const unitsOf = (stage, stream) => {
    const units = [];
    const {phase, chunk, step} = stage.actors;
    for (let i = 0; i < stream.begin.length; ++i) {
      const a = stream.actor[i];
      const last = units[units.length - 1];
      const same = last && last.phase === phase[a] && last.chunk === chunk[a] && last.step === step[a] &&
          (step[a] || last.micro === stream.micro[i]);
      if (same) {
        last.end = stream.end[i];
        last.last = i;
        last.busy += stream.end[i] - stream.begin[i];
      } else {
        const place = stage.chunks.indexOf(chunk[a]);
        const label = kLetters[phase[a]] + (step[a] ? '' : stream.micro[i] + (place > 0 ? `.${place}` : ''));
        units.push({
          phase: phase[a],
          chunk: chunk[a],
          step: step[a],
          micro: stream.micro[i],
          begin: stream.begin[i],
          end: stream.end[i],
          first: i,
          last: i,
          busy: stream.end[i] - stream.begin[i],
          label
        });
      }
    }
    for (const unit of units) unit.busy = unit.end > unit.begin ? Math.min(1, unit.busy / (unit.end - unit.begin)) : 1;
    return units;
  };

  const prepare = (plan) => {
    plan.step_s = plan.explain.step_s;
    plan.timeline.stages.forEach((stage, s) => {
      const {phase, chunk, step} = stage.actors;
      stage.chunks = [...new Set(chunk.filter((_, a) => !step[a] && phase[a] > 0))].sort((a, b) => a - b);
      stage.index = s;
      stage.streams = stage.streams.map(timed);
      stage.acts = phase.map(() => new Map());  // actor: micro-batch to [begin, end]
      for (const stream of stage.streams) {
        if (stream.kind === 'compute') stream.units = unitsOf(stage, stream);
        stream.begin.forEach((begin, i) => stage.acts[stream.actor[i]].set(stream.micro[i], [begin, stream.end[i]]));
      }
      const measured = plan.measured && plan.measured.stages[s];
      if (measured) {
        measured.streams = measured.streams.map(timed);
        for (const stream of measured.streams)
          if (stream.kind === 'compute') stream.units = unitsOf(stage, stream);
      }
    });
    plan.end_s = Math.max(plan.step_s, plan.measured ? plan.measured.step_s : 0);
  };

  // The part of the step that all charts over time show; who watches it hears of a change while its element is there.
  const view = {begin: 0, end: 1, all: 1};
  let watchers = [];
  const watch = (element, changed) => watchers.push({element, changed});
  const look = (begin, end) => {
    const width = Math.min(Math.max(end - begin, view.all * 1e-6), view.all);
    view.begin = Math.min(Math.max(begin, 0), view.all - width);
    view.end = view.begin + width;
    watchers = watchers.filter(({element}) => element.isConnected);
    for (const {changed} of watchers) changed();
  };
  return {load, kPhases, view, watch, look};
})();
