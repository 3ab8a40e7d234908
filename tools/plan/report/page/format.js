// Numbers as people read them: three significant digits, the words of `weft plan show`.
const Format = (() => {
  const digits = (value) => {
    const size = Math.abs(value);
    if (size === 0) return '0';
    return value.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
  };
  const scaled = (value, steps) => {
    const size = Math.abs(value);
    const [scale, unit] = steps.find(([scale]) => size >= scale * 0.9995) || steps[steps.length - 1];
    return [digits(value / scale), unit];
  };
  const seconds = (value) => (value === 0 ? '0 s' : scaled(value, [[1, 's'], [1e-3, 'ms'], [1e-6, 'us']]).join(' '));
  const bytes = (value) => Math.abs(value) < 1024 ?
      `${Math.round(value)} B` :
      scaled(value, [[2 ** 50, 'PiB'], [2 ** 40, 'TiB'], [2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [1024, 'KiB']]).join(' ');
  const rate = (value, unit) =>
      scaled(value, [[1e18, 'E'], [1e15, 'P'], [1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k'], [1, '']]).join(' ') +
      unit;
  const count = (value) => (value < 99.95 && value % 1 ? digits(value) : Math.round(value).toLocaleString('en-US'));
  const share = (value) => `${(100 * value).toFixed(1)} %`;
  const signed = (value, text) => (value > 0 ? '+' : value < 0 ? '−' : '±') + text(Math.abs(value));
  return {seconds, bytes, rate, count, share, signed};
})();
