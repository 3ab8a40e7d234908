// What a rank computes in a step, by kinds of kernels: predicted, measured, and beside the roofline.
const Kernels = (() => {
  const {h} = Elements;

  // Of one run of a kernel that takes so many seconds of a step.
  const speedOf = (kernel, seconds) => {
    const one = seconds / kernel.runs;
    if (!(one > 0)) return {bytes_s: null, flops_s: null};
    return {bytes_s: kernel.bytes / one, flops_s: (kernel.contraction_flops + kernel.flops) / one};
  };

  // With the speeds that it is predicted to have, and has: measured where it was.
  const prepare = (kernel) => {
    const now_s = kernel.measured_s === null ? kernel.predicted_s : kernel.measured_s;
    return {
      ...kernel,
      intensity: kernel.bytes ? (kernel.contraction_flops + kernel.flops) / kernel.bytes : 0,
      predicted: speedOf(kernel, kernel.predicted_s),
      now: speedOf(kernel, now_s),
      of_roofline: now_s > 0 ? kernel.roofline_s / now_s : null,
      ratio: kernel.measured_s ? kernel.predicted_s / kernel.measured_s : null,
    };
  };

  const columnsOf = (rows, measured) => {
    const all = d3.sum(rows, (it) => it.predicted_s);
    const phase = (it) => Data.kPhases[it.phase];
    const text = (name, value, more) => ({name, value, show: value, ...more});
    const number = (name, value, format, title = null) =>
        ({name, value, show: (it) => (value(it) === null ? '–' : format(value(it))), num: true, title});
    const which = measured ? 'measured where it was' : 'predicted';
    const tera = (it) => (it >= 1e11 ? Format.count(it / 1e12) : (it / 1e12).toFixed(3));
    const compared = [
      number('Measured', (it) => it.measured_s, Format.seconds, 'in a step, of a rank'),
      number('Ratio', (it) => it.ratio, (it) => it.toFixed(2), 'predicted over measured'),
    ];
    return [
      text(
          'Kernel', (it) => it.name,
          {mono: true, show: (it) => h('span', {title: `of ${it.type || 'no type'}`}, it.name)}),
      text('Phase', phase, {tight: true, show: (it) => [Elements.swatch(phase(it)), phase(it)]}),
      text('Product', (it) => it.product, {mono: true}),
      number('Runs', (it) => it.runs, Format.count, 'in a step, of a rank'),
      number('Predicted', (it) => it.predicted_s, Format.seconds, 'in a step, of a rank'),
      ...(measured ? compared : [number('Share', (it) => it.predicted_s / all, Format.share)]),
      number('GB/s', (it) => it.now.bytes_s, (it) => Format.count(it / 1e9), which),
      number('TFLOP/s', (it) => it.now.flops_s, tera, which),
      number(
          'Of roofline', (it) => it.of_roofline, Format.share,
          'what the device’s rates would take, over what it takes'),
      text('Made at', (it) => it.location, {where: true}),
    ];
  };

  const render = (plan) => {
    const rows = plan.kernels.map(prepare);
    const columns = columnsOf(rows, rows.some((it) => it.measured_s !== null));
    return [
      h('div', {class: 'panel'}, h('h3', {}, 'Beside the roofline'), Roofline.render(plan, rows)),
      h('div', {class: 'panel long'}, h('h3', {}, 'All kernels'),
        Elements.table('Kernels', columns, rows, {sort: 4, filter: 'Find a kernel'}))
    ];
  };
  return {render};
})();
