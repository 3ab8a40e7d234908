// Puts the page together, what is at its head first, and the rest when the browser has shown that.
(async () => {
  const {h} = Elements;
  const data = await Data.load();
  const {plans, run} = data;
  const two = plans.length > 1;
  const searched = plans.some((plan) => plan.explain.decision);
  Data.view.all = Data.view.end = Math.max(...plans.map((plan) => plan.end_s));

  const file = (plan) => plan.name.split('/').pop();
  const facts =
      ({plan}) => [`${plan.ranks} of ${plan.target}, ${Format.count(plan.nodes)} × ${plan.node_ranks} in the cluster`,
                   `${Format.count(plan.parameters)} parameters`,
                   `${Format.count(plan.tokens_per_step)} tokens a step in ${
                       Format.count(plan.micro_batches)} micro-batch` +
                       (plan.micro_batches === 1 ? '' : 'es'),
                   `${Format.rate(plan.flops_per_step, 'FLOP')} a step`,
  ].join(' · ');

  const fillHead = () => {
    document.title = `${plans.map(file).join(', ')} · Weft`;
    document.getElementById('head').append(
        h('p', {class: 'eyebrow'}, two ? 'Weft · two plans' : 'Weft · a plan'),
        h('h1', {}, plans.map(file).join(' and ')),
        ...plans.map((plan, i) => h('p', {class: 'about'}, Headline.name(plans, i), two ? ': ' : null, facts(plan))));
    document.getElementById('colophon').textContent =
        `Made by weft plan report ${plans[0].plan.weft} of plan ${plans.map((it) => it.plan.hash).join(' and ')}. ` +
        'Predictions are by the rates of the cluster; one rank of each stage stands for all.';
  };

  // What is not shown side by side: of one plan, and of the other one if someone asks.
  const each = (render) => {
    if (!two) return render(plans[0]);
    const shown = h('div', {});
    const show = (i) => shown.replaceChildren(...[render(plans[i])].flat(Infinity).filter(Boolean));
    show(0);
    const names = plans.map((plan, i) => `${'AB'[i]} ${file(plan)}`);
    return [h('div', {class: 'tools'}, Elements.choice('Plan', names, 0, show)), shown];
  };

  // id, title, lead, what is in it.
  const kSections = [
    ['overview', 'Overview', '', () => Headline.render(plans)],
    ['run', 'The run', '', () => Run.render(plans[0], run)],
    [
      'differences', 'Differences', 'What was asked for, where the two differ.',
      () => Decision.differences(data.differences)
    ],
    [
      'step', 'The step',
      'One rank of each stage, every stream, from the first act to the last. Double-click an act to look at it closely.',
      () => Gantt.render(plans)
    ],
    [
      'memory', 'Memory',
      'What a rank holds while the step goes on, and where each tensor lies. ' +
          'Charts follow the part of the step that is shown above.',
      () => Memory.render(plans)
    ],
    [
      'model', 'Model',
      'The forward, layers that are alike folded into one. An edge is a tensor: how it lies where it is made and read, ' +
          'and what moves it between.',
      () => each((plan) => [Model.render(plan), Parameters.render(plan)])
    ],
    [
      'communication', 'Communication',
      'What a rank sends in a step; what layers do alike is one row. ' +
          'Seconds are means over the stages, exposed ones add up to the step’s.',
      () => each(Communication.render)
    ],
    [
      'kernels', 'Kernels',
      'What a rank computes in a step; kernels that layers have alike are one row. Seconds are means over the stages.',
      () => each(Kernels.render)
    ],
    [
      'search', searched ? 'Search' : 'What if',
      searched ? 'How the layout was chosen, and why the others were not.' : '',
      () => each((plan) => [Decision.search(plan), Decision.prices(plan)])
    ],
  ].filter(([id]) => (two || id !== 'differences') && (run || id !== 'run'));

  const place = ([id, title, lead]) =>
      h('section', {id, 'aria-labelledby': `${id}-title`},
        h('h2', {id: `${id}-title`, class: id === 'overview' ? 'quiet' : null}, title),
        lead ? h('p', {class: 'lead'}, lead) : null);
  const places = kSections.map(place);

  const fill = (i) => {
    const render = kSections[i][3];
    places[i].append(...[render()].flat(Infinity).filter(Boolean));
    if (i + 1 < places.length) return setTimeout(() => fill(i + 1));
    document.documentElement.dataset.ready = String(Math.round(performance.now()));
    const target = location.hash && document.getElementById(location.hash.slice(1));
    if (target) target.scrollIntoView();
  };

  fillHead();
  document.getElementById('sections')
      .append(h('ul', {}, kSections.map(([id, title]) => h('li', {}, h('a', {href: `#${id}`}, title)))));
  document.getElementById('main').append(...places);
  fill(0);
})();
