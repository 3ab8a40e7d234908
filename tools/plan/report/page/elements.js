// What sections are built of: elements, hints, tables that sort, groups of buttons.
const Elements = (() => {
  const kRows = 20;  // of a table, until someone asks for all
  // h("td", { class: "num" }, "12", h("b", {}, "3")); `on...` are listeners; what is null is left out.
  const h = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value === null || value === undefined || value === false) continue;
      if (name.startsWith('on'))
        element.addEventListener(name.slice(2), value);
      else
        element.setAttribute(name, value === true ? '' : value);
    }
    element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
    return element;
  };

  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const swatch = (name) => h('span', {class: 'swatch', style: `background: var(--${name})`});

  // A hint follows the pointer; `lines` are nodes or texts.
  const hint = document.getElementById('hint');
  const showHint = (event, lines) => {
    hint.replaceChildren(...lines.filter(Boolean).map((line) => h('div', {}, line)));
    hint.hidden = false;
    const {width, height} = hint.getBoundingClientRect();
    const left = event.clientX + 16 + width > innerWidth ? event.clientX - width - 12 : event.clientX + 16;
    const top = event.clientY + 16 + height > innerHeight ? event.clientY - height - 12 : event.clientY + 16;
    hint.style.left = `${Math.max(4, left)}px`;
    hint.style.top = `${Math.max(4, top)}px`;
  };
  const hideHint = () => {
    hint.hidden = true;
  };
  const say = (text) => {
    document.getElementById('said').textContent = text;
  };

  // columns: { name, value(row) to sort by, show(row) to see, num, where, title }.
  const table = (label, columns, rows, {sort = -1, down = true, filter = null, pick = null} = {}) => {
    const state = {sort, down, words: ''};
    const body = h('tbody');
    const more = h('button', {
      type: 'button',
      class: 'button more',
      onclick: () => {
        state.all = true;
        fill();
      }
    });
    const shown = h('span', {class: 'push'});
    const heads = columns.map(
        (column, i) =>
            h('th', {scope: 'col', class: column.num ? 'num' : null, title: column.title},
              h('button', {type: 'button', onclick: () => order(i)}, column.name)));
    const order = (i) => {
      state.down = state.sort === i ? !state.down : Boolean(columns[i].num);
      state.sort = i;
      fill();
      say(`${label}: sorted by ${columns[i].name}, ${state.down ? 'largest' : 'smallest'} first`);
    };
    const row = (item) => {
      const line =
          h('tr', {
            class: pick ? 'pick' : null,
            tabindex: pick ? 0 : null,
            onclick: pick ? () => choose(line, item) : null,
            onkeydown: pick ?
                (event) => {
                  if (event.key === 'Enter' || event.key === ' ') {
                    event.preventDefault();
                    choose(line, item);
                  }
                } :
                null
          },
            columns.map(
                (column) =>
                    h('td', {
                      class:
                          [column.num && 'num', column.where && 'where', column.mono && 'mono', column.tight && 'tight']
                              .filter(Boolean)
                              .join(' ') ||
                          null
                    },
                      column.show(item))));
      return line;
    };
    const choose = (line, item) => {
      body.querySelectorAll('[aria-selected]').forEach((other) => other.removeAttribute('aria-selected'));
      line.setAttribute('aria-selected', 'true');
      pick(item);
    };
    const fill = () => {
      const column = columns[state.sort];
      const text = (item) => columns.map((it) => it.value(item)).join(' ').toLowerCase();
      let items =
          rows.filter((item) => !state.words || state.words.split(/\s+/).every((word) => text(item).includes(word)));
      if (column) {
        const sign = state.down ? -1 : 1;
        items = [...items].sort((a, b) => {
          const [x, y] = [column.value(a), column.value(b)];
          if (x === null || y === null) return (x === null) - (y === null);  // what is not known comes last
          return sign * (x < y ? -1 : x > y ? 1 : 0);
        });
      }
      heads.forEach((head, i) => {
        if (i === state.sort)
          head.setAttribute('aria-sort', state.down ? 'descending' : 'ascending');
        else
          head.removeAttribute('aria-sort');
      });
      const few = state.all || items.length <= kRows + 5;
      body.replaceChildren(...(few ? items : items.slice(0, kRows)).map(row));
      more.hidden = few;
      more.textContent = `Show all ${items.length} rows`;
      shown.textContent =
          items.length === rows.length ? `${rows.length} rows` : `${items.length} of ${rows.length} rows`;
    };
    const search = filter && h('input', {
                     type: 'search',
                     placeholder: filter,
                     'aria-label': filter,
                     oninput: (event) => {
                       state.words = event.target.value.trim().toLowerCase();
                       fill();
                     }
                   });
    fill();
    return h(
        'div', {}, filter ? h('div', {class: 'table-tools'}, search, shown) : null,
        h('div', {class: 'scroll'}, h('table', {'aria-label': label}, h('thead', {}, h('tr', {}, heads)), body)), more);
  };

  // One of several: calls choose(index).
  const choice = (label, names, chosen, choose) => {
    const buttons = names.map(
        (name, i) =>
            h('button', {
              type: 'button',
              class: 'button',
              'aria-pressed': String(i === chosen),
              onclick: () => {
                buttons.forEach((button, j) => button.setAttribute('aria-pressed', String(i === j)));
                choose(i);
              }
            },
              name));
    return h('div', {class: 'group', role: 'group', 'aria-label': label}, buttons);
  };

  const toggle = (name, on, change) => {
    const button =
        h('button', {
          type: 'button',
          class: 'button',
          'aria-pressed': String(on),
          onclick: () => {
            const now = button.getAttribute('aria-pressed') !== 'true';
            button.setAttribute('aria-pressed', String(now));
            change(now);
          }
        },
          name);
    return button;
  };

  // Parts of a whole as one bar: { color, value }.
  const bar = (parts, whole, label) =>
      h('div', {class: 'bar', role: 'img', 'aria-label': label},
        parts.map((part) => h('span', {
                    style: `width: ${whole > 0 ? 100 * part.value / whole : 0}%; background: var(--${part.color})`
                  })));

  const legend = (items) =>
      h('ul', {class: 'legend'},
        items.map(([name, text, value]) => h('li', {}, swatch(name), text, value ? [' ', h('b', {}, value)] : null)));

  // Of the seconds of a stage, or of a layout: what it computes, what is exposed, what it waits.
  const kStepParts = [
    ['forward', 'computes', 'compute_s'], ['exposed', 'exposed communication', 'exposed_comm_s'],
    ['waiting', 'waits', 'waiting_s']
  ];
  const stepBar = (it, most) =>
      bar(kStepParts.map(([color, , key]) => ({color, value: it[key]})), most,
          kStepParts.map(([, name, key]) => `${name} ${Format.seconds(it[key])}`).join(', '));
  const stepLegend = () => legend(kStepParts.map(([color, name]) => [color, name]));

  // The lines of a hint, to stay below a chart, and for a screen reader.
  const showDetail = (detail, lines, spoken) => {
    detail.replaceChildren(...lines.flatMap((line) => [line, ' · ']).slice(0, -1));
    if (spoken) say(lines.map((line) => line.textContent).join(', '));
  };

  // Makes a canvas anew, sharp on any screen; its context.
  const sized = (canvas, width, height) => {
    const ratio = devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.height = `${height}px`;
    const context = canvas.getContext('2d');
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    return context;
  };

  // Of a scale of bytes: at powers of two, as they are counted.
  const byteTicks = (scale) => {
    const [, top] = scale.domain();
    return d3.range(0, top, 2 ** Math.ceil(Math.log2(top / 5)));
  };

  // Calls draw(width) now, when the width changes, and when the colours do.
  const drawn = (element, draw) => {
    let width = 0;
    const again = () => {
      if (element.clientWidth > 0) draw(element.clientWidth);
    };
    new ResizeObserver(() => {
      if (element.clientWidth === width) return;
      width = element.clientWidth;
      again();
    }).observe(element);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', again);
    addEventListener('beforeprint', again);
    addEventListener('afterprint', again);
    return again;
  };

  return {
    h,
    color,
    swatch,
    showHint,
    hideHint,
    showDetail,
    sized,
    byteTicks,
    say,
    table,
    choice,
    toggle,
    bar,
    legend,
    stepBar,
    stepLegend,
    drawn
  };
})();
