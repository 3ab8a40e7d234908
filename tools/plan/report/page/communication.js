// What a rank sends in a step, and what of it computation hides.
const Communication = (() => {
  const {h, bar} = Elements;

  const hidden = (it, most) => {
    const parts = [{color: 'comm', value: it.hidden_s}, {color: 'exposed', value: it.exposed_comm_s}];
    return bar(parts, most, `${Format.seconds(it.hidden_s)} hidden, ${Format.seconds(it.exposed_comm_s)} exposed`);
  };

  const render = (plan) => {
    const rows = plan.explain.communication;
    if (!rows.length) return h('div', {class: 'panel'}, 'Nothing is sent: one rank, or ranks that share nothing.');
    const most = Math.max(...rows.map((it) => it.communication_s));
    const text = (name, key, more) => ({name, value: (it) => it[key], show: (it) => it[key], ...more});
    const number = (name, key, format) => text(name, key, {show: (it) => format(it[key]), num: true});
    const share = (it) => it.hidden_s / (it.communication_s || 1);
    const columns = [
      text('What', 'name', {mono: true}),
      text('Kind', 'what'),
      text('Over', 'over'),
      number('Times', 'acts', Format.count),
      number('Sent', 'sent_bytes', Format.bytes),
      number('Takes', 'communication_s', Format.seconds),
      {name: 'Hidden, exposed', value: share, show: (it) => hidden(it, most)},
      number('Exposed', 'exposed_comm_s', Format.seconds),
      text('Made at', 'location', {where: true}),
    ];
    return h(
        'div', {class: 'panel long'},
        Elements.table('Communication', columns, rows, {sort: 7, filter: 'Find communication'}),
        Elements.legend([['comm', 'hidden behind computation'], ['exposed', 'exposed']]));
  };
  return {render};
})();
