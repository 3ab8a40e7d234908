// What a plan comes to: figures, where the step goes, what stands out, stage by stage.
const Headline = (() => {
  const {h, bar, legend} = Elements;
  const kParts = [
    ['forward_s', 'forward', 'forward'],
    ['backward_s', 'backward', 'backward'],
    ['update_s', 'update', 'update'],
    ['other_s', 'other', 'other work'],
    ['exposed_comm_s', 'exposed', 'exposed communication'],
    ['waiting_s', 'waiting', 'waiting'],
  ];

  const peakStage = (plan) => plan.stages.reduce((most, stage) => (stage.peak_bytes > most.peak_bytes ? stage : most));

  // name, value(plan) or null, text, what is below it, whether less is better.
  const kFigures = [
    [
      'Step', (p) => p.explain.step_s, Format.seconds,
      (p) => (p.measured ? `measured ${Format.seconds(p.measured.step_s)}` : 'predicted'), true
    ],
    [
      'Tokens a second', (p) => p.explain.tokens_per_s, Format.count,
      (p) => `${Format.count(p.explain.tokens_per_s_device)} a device`, false
    ],
    ['MFU', (p) => p.explain.mfu, Format.share, () => 'of the devices’ peak', false],
    ['Bubble', (p) => p.explain.bubble_fraction, Format.share, () => 'of the step, ranks do not compute', true],
    [
      'Exposed communication', (p) => p.explain.exposed_comm_s, Format.seconds,
      (p) => `${Format.share(p.explain.exposed_comm_s / p.step_s)} of the step`, true
    ],
    [
      'Memory of a rank', (p) => p.explain.peak_bytes, Format.bytes,
      (p) =>
          (p.explain.headroom_bytes === null ?
               `stage ${peakStage(p).stage} needs most` :
               `${Format.bytes(p.explain.headroom_bytes)} of headroom (${Format.share(p.explain.headroom_fraction)})`),
      true
    ],
    [
      'Above the bound', (p) => p.explain.decision && p.explain.decision.gap, Format.share,
      (p) => `no layout is faster than ${Format.seconds(p.explain.decision.bound_s)}`, true
    ],
  ];

  const unit = (text) => {
    const [number, ...rest] = text.split(' ');
    return rest.length ? [number, ' ', h('small', {}, rest.join(' '))] : text;
  };

  const figures = (plans) => h(
      'dl', {class: plans.length > 1 ? 'figures two' : 'figures'},
      kFigures.filter(([, value]) => plans.some((plan) => value(plan) !== null)).map(([
                                                                                       name, value, text, note, less
                                                                                     ]) => {
        const values = plans.map(value);
        if (plans.length === 1)
          return h(
              'div', {}, h('dt', {}, name), h('dd', {}, unit(text(values[0]))),
              h('dd', {class: 'note'}, note(plans[0])));
        const known = values.every((it) => it !== null);
        const change = known && values[0] ? values[1] / values[0] - 1 : 0;
        const better = Math.abs(change) < 5e-4 ? '' : (change < 0) === less ? 'better' : 'worse';
        return h(
            'div', {}, h('dt', {}, name),
            h('div', {class: 'pair'}, h('dd', {}, values[0] === null ? '–' : unit(text(values[0]))),
              h('span', {class: 'arrow', 'aria-label': 'and'}, '→'),
              h('dd', {}, values[1] === null ? '–' : unit(text(values[1])))),
            h('dd', {class: `note ${better}`}, known ? `${Format.signed(change, Format.share)}` : 'not known of one'));
      }));

  const division = (plan, mark, most) => {
    const shares = kParts.filter(([key]) => plan.explain.division[key] / plan.step_s > 5e-5);
    const decision = plan.explain.decision;
    const at = decision ? 100 * decision.bound_s / most : 0;
    return h(
        'div', {},
        h('div', {
          class: 'division',
          role: 'img',
          style: `width: ${100 * plan.step_s / most}%`,
          'aria-label': `Where the step goes: ${
              shares.map(([key, , name]) => `${name} ${Format.seconds(plan.explain.division[key])}`).join(', ')}`
        },
          shares.map(([key, color, name]) => h('span', {
                       style: `width: ${100 * plan.explain.division[key] / plan.step_s}%; background: var(--${color})`,
                       title: `${name}: ${Format.seconds(plan.explain.division[key])}`
                     }))),
        decision ? h('div', {class: 'bound'}, h('i', {style: `left: ${at}%`}),
                     h('b', {style: at > 60 ? `right: ${100 - at}%` : `left: ${at}%`},
                       `bound ${Format.seconds(decision.bound_s)}`)) :
                                              null,
        legend(shares.map(
            ([key, color, name]) =>
                [color, name,
                 `${Format.seconds(plan.explain.division[key])} · ${
                     Format.share(plan.explain.division[key] / plan.step_s)}`])));
  };

  // Sentences that follow from the data.
  const findings = (plan) => {
    const list = [];
    const {explain, stages} = plan;
    const slow = stages.reduce((most, stage) => (stage.compute_s > most.compute_s ? stage : most));
    const mean = stages.reduce((sum, stage) => sum + stage.compute_s, 0) / stages.length;
    if (stages.length > 1) {
      const more = slow.compute_s / mean - 1;
      list.push(more < 0.005 ? 'All stages compute equally long.' : [
        h('b', {}, `Stage ${slow.stage}`),
        ` computes longest: ${Format.seconds(slow.compute_s)}, ${
            Format.share(more)} more than the mean. The others wait for it.`
      ]);
    }
    const parts = kParts.slice(4).map(([key, , name]) => [explain.division[key], name]).sort((a, b) => b[0] - a[0]);
    if (parts[0][0] > 0.02 * plan.step_s)
      list.push([
        `Of what ranks do not compute, most is `, h('b', {}, parts[0][1]),
        `: ${Format.share(parts[0][0] / plan.step_s)} of the step.`
      ]);
    const comm = explain.communication.find((it) => it.exposed_comm_s > 0);
    if (comm)
      list.push([
        'The most exposed communication is ', h('span', {class: 'mono'}, comm.name),
        ` over ${comm.over}: ${Format.seconds(comm.exposed_comm_s)} of its ${
            Format.seconds(comm.communication_s)} are exposed.`
      ]);
    const price = explain.prices[0];
    if (price && price.saved_s > 0)
      list.push([
        `What would help most is twice the `, h('b', {}, price.twice),
        `: ${Format.share(price.saved_s / plan.step_s)} off the step.`
      ]);
    const peak = peakStage(plan);
    const large = explain.memory.largest[0];
    if (large)
      list.push([
        stages.length > 1 ? `Stage ${peak.stage} needs most memory. ` : '', 'At the peak the largest is ',
        h('span', {class: 'mono'}, large.name), `: ${Format.bytes(large.bytes)} of ${Format.bytes(peak.peak_bytes)}.`
      ]);
    if (plan.measured)
      list.push([
        `The traced step took `, h('b', {}, Format.seconds(plan.measured.step_s)),
        `, ${Format.share(plan.measured.step_s / plan.step_s)} of what was predicted.`
      ]);
    return h('ul', {class: 'findings'}, list.map((it) => h('li', {}, it)));
  };

  const memoryBar = (plan, stage, room) => {
    const parts = stage.at_peak.map((value, k) => ({color: plan.memory.categories[k], value}));
    return bar(parts, room, parts.map((part) => `${part.color} ${Format.bytes(part.value)}`).join(', '));
  };

  const stageTable = (plan) => {
    const most = Math.max(...plan.stages.map((stage) => stage.compute_s + stage.exposed_comm_s + stage.waiting_s));
    const room = plan.plan.memory_bytes || Math.max(...plan.stages.map((stage) => stage.peak_bytes));
    const number = (name, key, text) => ({name, value: (it) => it[key], show: (it) => text(it[key]), num: true});
    const columns = [
      {name: 'Stage', value: (it) => it.stage, show: (it) => String(it.stage)},
      {name: 'Ranks', value: (it) => it.ranks, show: (it) => `${it.of} (${it.mesh})`},
      {name: 'Its step', value: (it) => it.compute_s, show: (it) => Elements.stepBar(it, most)},
      number('Computes', 'compute_s', Format.seconds),
      number('Exposed', 'exposed_comm_s', Format.seconds),
      number('Waits', 'waiting_s', Format.seconds),
      number('Sends', 'sent_bytes', Format.bytes),
      {name: 'Its memory', value: (it) => it.peak_bytes, show: (it) => memoryBar(plan, it, room)},
      number('Peak', 'peak_bytes', Format.bytes),
    ];
    if (plan.plan.memory_bytes) columns.push(number('Headroom', 'headroom_bytes', Format.bytes));
    return [Elements.table('Stages', columns, plan.stages), Elements.stepLegend()];
  };

  const name = (plans, i) =>
      (plans.length > 1 ?
           [
             h('span', {class: `mark ${i ? 'b' : 'a'}`, 'aria-hidden': 'true'}, 'AB'[i]),
             h('span', {class: 'mono'}, plans[i].name)
           ] :
           []);

  const render = (plans) => {
    const most = Math.max(...plans.map((plan) => plan.step_s));
    return [
      figures(plans),
      h('div', {class: 'panel'}, h('h3', {}, 'Where a step goes'),
        plans.map(
            (plan, i) =>
                h('div', {style: i ? 'margin-top: 16px' : null}, plans.length > 1 ? h('p', {}, name(plans, i)) : null,
                  division(plan, i, most)))),
      h('div', {class: 'columns'},
        plans.map(
            (plan, i) => h('div', {class: 'panel'}, h('h3', {}, 'What stands out ', name(plans, i)), findings(plan)))),
      plans.map(
          (plan, i) =>
              h('div', {class: 'panel'}, h('h3', {}, 'A rank of each stage ', name(plans, i)), stageTable(plan))),
    ];
  };
  return {render, name};
})();
