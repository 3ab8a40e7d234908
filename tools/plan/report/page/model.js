// The forward as a graph: layers folded until someone opens them; edges say how tensors lie and what moves them.
const Model = (() => {
  const {h} = Elements;

  // "h.*.attn.c_attn" within "h.*", then "attn", then "c_attn": a number belongs to the word before it.
  const pathOf = (scope) => {
    if (!scope) return [];
    const parts = [];
    for (const word of scope.split('.')) {
      if (/^(\*|\d+)$/.test(word) && parts.length)
        parts[parts.length - 1] += `.${word}`;
      else
        parts.push(word);
    }
    return parts;
  };
  // "h.3" and "h.*" are one layer.
  const keyOf = (path) => path.join('/').replace(/\.(\*|\d+)/g, '.*');

  const boxing = (it) => `${it.kind} over ${it.over}`;

  const prepare = (model) => {
    const groups = new Map();
    model.ops.forEach((op, i) => {
      const path = pathOf(op.scope);
      op.path = path.map((_, depth) => keyOf(path.slice(0, depth + 1)));
      op.id = `op${i}`;
      op.path.forEach((key, depth) => {
        const count = model.layers[key.replace(/\//g, '.')] || 1;
        if (!groups.has(key))
          groups.set(key, {
            key,
            name: path[depth].replace(/\.\d+$/, '.*'),
            seconds: 0,
            ops: 0,
            count,
            stages: new Set(),
            parent: op.path[depth - 1]
          });
        const group = groups.get(key);
        group.seconds += op.seconds;
        group.ops += 1;
        op.stages.forEach((stage) => group.stages.add(stage));
      });
    });
    return groups;
  };

  const stagesText = (stages) => {
    const list = [...stages].sort((a, b) => a - b);
    if (list.length === 1) return `stage ${list[0]}`;
    return list[list.length - 1] - list[0] + 1 === list.length ? `stages ${list[0]} to ${list[list.length - 1]}` :
                                                                 `stages ${list.join(', ')}`;
  };

  const render = (plan) => {
    const {model} = plan;
    const groups = prepare(model);
    const open = new Set();
    const whole = d3.sum(model.ops, (op) => op.seconds);
    const many = plan.stages.length > 1;
    const frame = h('div', {class: 'graph', tabindex: 0, role: 'region', 'aria-label': 'The model as a graph'});

    // The node that stands for an op: itself, or the outermost layer that is folded.
    const shownAs = (op) => op.path.find((key) => !open.has(key)) || op.id;

    // What nothing reads and what reads nothing says nothing here.
    const joined = new Set(model.edges.flatMap((edge) => [edge.from, edge.to]));
    const ops = model.ops.filter((op, i) => joined.has(i) || op.parameters.length);

    const draw = () => {
      const graph = new dagre.graphlib.Graph({compound: true, multigraph: true});
      graph.setGraph({rankdir: 'TB', nodesep: 26, ranksep: 40, marginx: 16, marginy: 16, edgesep: 18});
      graph.setDefaultEdgeLabel(() => ({}));
      const add = (id, node) => graph.setNode(id, {
        ...node,
        id,
        width: Math.max(96, 7.1 * Math.max(node.title.length, node.sub.length * 0.92) + 26),
        height: 42
      });
      for (const op of ops) {
        const id = shownAs(op);
        if (!graph.hasNode(id)) {
          const group = groups.get(id);
          if (group)
            add(id, {
              title: group.name + (group.count > 1 ? `  ×${group.count}` : ''),
              sub: `${group.ops} ${group.ops === 1 ? 'op' : 'ops'} · ${
                  Format.share(whole ? group.seconds / whole : 0)}${many ? ` · ${stagesText(group.stages)}` : ''}`,
              group,
              seconds: group.seconds
            });
          else
            add(id, {
              title: op.name + (op.count > 1 ? `  ×${op.count}` : ''),
              sub: op.parameters.map((name) => name.split('.').slice(-2).join('.')).join(', ').slice(0, 34) ||
                  (many ? stagesText(op.stages) : op.location),
              op,
              seconds: op.seconds
            });
        }
        op.path.filter((key) => open.has(key)).forEach((key) => {
          if (!graph.hasNode(`in ${key}`)) graph.setNode(`in ${key}`, {cluster: groups.get(key)});
        });
        const inner = op.path.filter((key) => open.has(key));
        inner.forEach((key, depth) => {
          if (depth) graph.setParent(`in ${key}`, `in ${inner[depth - 1]}`);
        });
        if (inner.length) graph.setParent(id, `in ${inner[inner.length - 1]}`);
      }
      const merged = new Map();
      for (const edge of model.edges) {
        const [from, to] = [shownAs(model.ops[edge.from]), shownAs(model.ops[edge.to])];
        if (from === to || edge.next) continue;  // within a layer, or to the next instance of it
        const label = edge.boxings.length ? edge.boxings.map((it) => it.kind).join(' → ') : '';
        const key = `${from}|${to}|${label}`;
        if (!merged.has(key)) merged.set(key, {from, to, label, edges: []});
        merged.get(key).edges.push(edge);
      }
      // What goes on from one instance to the next, and how.
      const loops = new Map();
      for (const edge of model.edges.filter((it) => it.next)) {
        const key = model.ops[edge.to].path[0];
        loops.set(key, [...(loops.get(key) || []), edge]);
      }
      for (const [key, {from, to, label, edges}] of merged)
        graph.setEdge(
            from, to, {label, edges, width: label ? 6.2 * label.length + 8 : 0, height: label ? 14 : 0, labelpos: 'c'},
            key);
      dagre.layout(graph);
      paint(graph, loops);
    };

    const edgeLines = (edge) =>
        [h('b', {}, edge.type),
         h('span', {},
           edge.made === edge.read && !edge.boxings.length ? edge.read : `made ${edge.made}, read ${edge.read}`),
         ...edge.boxings.map(
             (it) =>
                 h('span', {}, `${boxing(it)}, ${Format.bytes(it.bytes)} sent by a rank`,
                   it.location ? h('i', {class: 'mono'}, ` ${it.location}`) : null)),
         h('i', {},
           `${Format.bytes(edge.bytes)} on a rank${edge.count > 1 ? `, ${edge.count} times in the model` : ''}`),
    ];

    const paint = (graph, loops) => {
      const {width, height} = graph.graph();
      const svg = d3.create('svg')
                      .attr('width', Math.max(width, 200))
                      .attr('height', height)
                      .attr('role', 'group')
                      .attr('aria-label', 'Layers and what passes between them');
      svg.append('defs').html(
          '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4"' +
          ' markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 L8 4 L0 8 Z" fill="var(--faint)"/></marker>');
      const nodes = graph.nodes().map((id) => graph.node(id)).filter(Boolean);
      const clusters = nodes.filter((node) => node.cluster).sort((a, b) => b.width * b.height - a.width * a.height);
      const press = (event, act) => {
        if (event.key === 'Enter' || event.key === ' ') {
          event.preventDefault();
          act();
        }
      };
      for (const node of clusters) {
        const fold = () => {
          open.delete(node.cluster.key);
          draw();
          focusOn(node.cluster.key);
        };
        const g = svg.append('g')
                      .attr('class', 'cluster')
                      .attr('tabindex', 0)
                      .attr('role', 'button')
                      .attr('aria-expanded', 'true')
                      .attr('aria-label', `Fold ${node.cluster.name}`)
                      .on('click', fold)
                      .on('keydown', () => press(d3.event, fold));
        g.append('rect')
            .attr('x', node.x - node.width / 2)
            .attr('y', node.y - node.height / 2)
            .attr('width', node.width)
            .attr('height', node.height)
            .attr('rx', 10);
        g.append('text')
            .attr('x', node.x - node.width / 2 + 10)
            .attr('y', node.y - node.height / 2 + 16)
            .text(`${node.cluster.name}${node.cluster.count > 1 ? `  ×${node.cluster.count}` : ''}`);
      }
      const line = d3.line().x((it) => it.x).y((it) => it.y).curve(d3.curveBasis);
      for (const id of graph.edges()) {
        const edge = graph.edge(id);
        const boxed = edge.edges.some((it) => it.boxings.length);
        const lines = edge.edges.slice(0, 4).flatMap(edgeLines);
        const g = svg.append('g')
                      .attr('class', boxed ? 'edge boxed' : 'edge')
                      .attr('tabindex', boxed ? 0 : null)
                      .attr('role', 'img')
                      .attr('aria-label', lines.map((it) => it.textContent).join(', '))
                      .on('mousemove', () => Elements.showHint(d3.event, lines))
                      .on('mouseleave', Elements.hideHint)
                      .on('focus', () => Elements.say(lines.map((it) => it.textContent).join(', ')));
        g.append('path').attr('d', line(edge.points)).attr('marker-end', 'url(#tip)');
        g.append('path').attr('class', 'hit').attr('d', line(edge.points));
        if (edge.label)
          g.append('text').attr('x', edge.x).attr('y', edge.y + 4).attr('text-anchor', 'middle').text(edge.label);
      }
      for (const node of nodes.filter((it) => !it.cluster)) {
        const {group, op} = node;
        const unfold = () => {
          open.add(node.id);
          draw();
          focusOn(node.id);
        };
        const loop = group && loops.get(node.id);
        const lines = [
          h('b', {}, op ? op.name : group.name),
          h('span', {},
            `${Format.seconds(node.seconds / plan.stages.length)} of a step’s forward on a rank, ${
                Format.share(whole ? node.seconds / whole : 0)} of it`),
          op && op.parameters.length ? h('span', {}, `parameters ${op.parameters.join(', ')}`) : null,
          op ? h('i', {class: 'mono'}, op.location) : h('i', {}, 'press to open'),
          loop ? h('span', {},
                   `to the next one: ${
                           [...new Set(loop.map(
                                (it) => `${it.type} ${it.read}${
                                    it.boxings.length ? ` by ${it.boxings.map(boxing).join(', ')}` : ''}`))]
                               .slice(0, 3)
                               .join('; ')}`) :
                                                        null
        ].filter(Boolean);
        const g = svg.append('g')
                      .attr('class', group ? 'node folds' : 'node')
                      .attr('data-key', node.id)
                      .attr('tabindex', 0)
                      .attr('role', group ? 'button' : 'img')
                      .attr('aria-expanded', group ? 'false' : null)
                      .attr('aria-label', lines.map((it) => it.textContent).join(', '))
                      .on('mousemove', () => Elements.showHint(d3.event, lines))
                      .on('mouseleave', Elements.hideHint);
        if (group)
          g.on('click', () => {
             Elements.hideHint();
             unfold();
           }).on('keydown', () => press(d3.event, unfold));
        const [left, top] = [node.x - node.width / 2, node.y - node.height / 2];
        g.append('rect')
            .attr('x', left)
            .attr('y', top)
            .attr('width', node.width)
            .attr('height', node.height)
            .attr('rx', 7);
        g.append('rect')
            .attr('class', 'heat')
            .attr('x', left)
            .attr('y', top + node.height - 3)
            .attr('width', whole ? node.width * node.seconds / whole : 0)
            .attr('height', 3);
        g.append('text').attr('x', node.x).attr('y', top + 18).attr('text-anchor', 'middle').text(node.title);
        g.append('text')
            .attr('class', 'sub')
            .attr('x', node.x)
            .attr('y', top + 33)
            .attr('text-anchor', 'middle')
            .text(node.sub);
        if (loop) {
          const [right, middle] = [left + node.width, node.y];
          const l = svg.append('g').attr('class', loop.some((it) => it.boxings.length) ? 'edge boxed' : 'edge');
          l.append('path')
              .attr(
                  'd',
                  `M${right - 16},${top} C${right - 8},${top - 22} ${right + 26},${top - 14} ${right + 1},${
                      middle - 6}`)
              .attr('marker-end', 'url(#tip)');
        }
      }
      frame.replaceChildren(svg.node());
    };
    const focusOn = (key) => {
      const node = [...frame.querySelectorAll('[data-key]')].find(
          (it) => it.dataset.key === key || it.dataset.key.startsWith('op'));
      if (node) node.focus({preventScroll: true});
    };
    draw();
    const button = (text, act) =>
        h('button', {
          type: 'button',
          class: 'button',
          onclick: () => {
            act();
            draw();
          }
        },
          text);
    const boxings = d3.nest()
                        .key((it) => it)
                        .rollup((all) => all.length)
                        .entries(model.edges.flatMap((edge) => edge.boxings.map(boxing)));
    return h(
        'div', {class: 'panel long'},
        h('div', {class: 'tools'},
          h('div', {class: 'group', role: 'group', 'aria-label': 'Layers'}, button('Fold all', () => open.clear()),
            button(
                'Open layers',
                () => {
                  for (const group of groups.values())
                    if (!group.parent) open.add(group.key);
                }),
            button(
                'Open all',
                () => {
                  for (const key of groups.keys()) open.add(key);
                })),
          h('span', {class: 'keys push'}, 'Press a blue box to open it. Violet edges move data.')),
        frame,
        boxings.length ? h('p', {class: 'keys', style: 'margin: 10px 0 0'},
                           `Moved in the forward: ${boxings.map((it) => it.key).join(', ')}.`) :
                         null);
  };
  return {render};
})();
