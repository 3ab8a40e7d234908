// How the layout was chosen, what lost and why; what would make the step faster; what differs between two plans.
const Decision = (() => {
  const {h, bar, stepBar} = Elements;

  const keys = (text) => h('span', {class: 'mono'}, text || 'the only layout');

  const column = (name, value, text) => ({name, value, show: (it) => text(value(it)), num: true});
  const kLayout = {name: 'Layout', value: (it) => it.keys, show: (it) => keys(it.keys)};
  const kStep = column('Step', (it) => it.step_s, Format.seconds);

  const choice = (decision) => {
    const count = (key) => Format.count(decision[key]);
    return h(
        'div', {class: 'panel'}, h('h3', {}, 'The choice'), h('p', {}, keys(decision.best[0].keys)),
        h('p', {class: 'about'},
          `It takes ${Format.share(decision.gap)} more than ${
              Format.seconds(decision.bound_s)}, which no layout beats. `,
          `The search ended: ${decision.ended}. Of ${count('considered')} layouts ${count('dropped_by_bound')} can be `,
          `no faster, ${count('impossible')} are impossible, ${count('estimated')} were estimated `,
          `(${count('dropped_by_memory')} too large), ${count('unseen')} not looked at, and ${
              count('compiled')} compiled.`));
  };

  const runnersUp = (decision) => {
    const [best] = decision.best;
    const most = Math.max(...decision.best.map((it) => it.step_s));
    const slower = (share) => (share > 0 ? Format.share(share) : 'chosen');
    return Elements.table(
        'Layouts that were compiled',
        [
          kLayout,
          {name: 'Its step', value: kStep.value, show: (it) => stepBar(it, most)},
          kStep,
          column('Slower by', (it) => it.step_s / best.step_s - 1, slower),
          {name: 'Loses by', value: (it) => it.loss, show: (it) => it.loss},
          column('Computes', (it) => it.compute_s, Format.seconds),
          column('Exposed', (it) => it.exposed_comm_s, Format.seconds),
          column('Waits', (it) => it.waiting_s, Format.seconds),
          column('Memory', (it) => it.bytes, Format.bytes),
        ],
        decision.best);
  };

  const refused = (decision) => {
    if (!decision.refused.length) return null;
    const room = Format.bytes(decision.memory_bytes);
    const columns = [kLayout, kStep, column('Too large by', (it) => it.bytes - decision.memory_bytes, Format.bytes)];
    return [
      h('h3', {class: 'next'}, `Faster, but larger than the ${room} of memory`),
      Elements.table('Layouts that do not fit', columns, decision.refused),
    ];
  };

  const search = (plan) => {
    const {decision} = plan.explain;
    if (!decision) return null;
    return [
      choice(decision),
      h('div', {class: 'panel'}, h('h3', {}, 'The runners-up'), runnersUp(decision), Elements.stepLegend(),
        refused(decision)),
    ];
  };

  const prices = (plan) => {
    const {prices, decision} = plan.explain;
    const rates = prices.map((it) => ({name: `${it.twice}, twice as fast`, saved_s: it.saved_s, where: it.key}));
    const means = decision ? decision.prices.map((it) => ({name: it.means, saved_s: it.saved_s, where: it.keys})) : [];
    const rows = [...rates, ...means];
    const most = Math.max(...rows.map((it) => it.saved_s), 1e-12);
    const saved = (seconds) => (seconds < 0 ? '−' : '') + Format.seconds(Math.abs(seconds));
    const green = (it) => bar([{color: 'update', value: Math.max(it.saved_s, 0)}], most, saved(it.saved_s));
    const columns = [
      {name: 'With', value: (it) => it.name, show: (it) => it.name},
      {name: 'Saves', value: (it) => it.saved_s, show: green},
      column('Of the step', (it) => it.saved_s, saved),
      column('Share', (it) => it.saved_s / plan.step_s, Format.share),
      {name: 'Ask with', value: (it) => it.where, show: (it) => it.where, where: true},
    ];
    return h(
        'div', {class: 'panel'}, h('h3', {}, 'What would make the step shorter'),
        Elements.table('Prices', columns, rows, {sort: 2}),
        h('p', {class: 'keys'}, 'The same plan on a faster machine: another layout may gain more there.'));
  };

  const differences = (differences) => {
    const table = (name, rows) => {
      if (!rows.length) return null;
      const side = (name, key) => {
        const text = (it) => (it[key] === null ? '–' : String(it[key]));
        return {name, value: text, show: text, mono: true};
      };
      const columns = [
        {name: 'Key', value: (it) => it.key, show: (it) => it.key, mono: true}, side('A', 'before'), side('B', 'after')
      ];
      return [h('h3', {}, name), Elements.table(name, columns, rows)];
    };
    const {job, cluster} = differences;
    const same = !job.length && !cluster.length;
    return h(
        'div', {class: 'panel'}, same ? h('p', {}, 'The two plans are of one job and one cluster.') : null,
        table('The jobs', job), table('The clusters', cluster));
  };
  return {search, prices, differences};
})();
