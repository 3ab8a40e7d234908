// The forward as a graph: layers folded until someone opens them; edges say how tensors lie and what moves them.
const Model = (() => {
  const {h} = Elements;

  const boxing = (it) => `${it.kind} over ${it.over}`;
  const textOf = (lines) => lines.map((line) => line.textContent).join(', ');

  const stagesText = (stages) => {
    const list = [...stages].sort((a, b) => a - b);
    const [first, last] = [list[0], list[list.length - 1]];
    if (list.length === 1) return `stage ${first}`;
    return last - first + 1 === list.length ? `stages ${first} to ${last}` : `stages ${list.join(', ')}`;
  };

  // What is drawn, and what is known of it.
  const sceneOf = (plan) => {
    const {model} = plan;
    const layers = Folding.layersOf(model);
    const whole = d3.sum(model.ops, (op) => op.seconds) || 1;
    return {
      model,
      layers,
      loops: Folding.loopsOf(model, layers),
      before: new Set(model.edges.filter((edge) => edge.next).map((edge) => model.ops[edge.to])),
      open: Folding.openAtFirst(layers),
      stages: plan.stages.length,
      share: (it) => it.seconds / whole,
      frame: h('div', {class: 'graph', tabindex: 0, role: 'region', 'aria-label': 'The model as a graph'}),
    };
  };

  const boxText = ({stages, share, before}, op, layer) => {
    const it = layer || op;
    const times = it.count > 1 ? `  ×${it.count}` : '';
    if (layer) {
      const ops = `${layer.ops} ${layer.ops === 1 ? 'op' : 'ops'} · ${Format.share(share(layer))}`;
      return {title: layer.name + times, sub: stages > 1 ? `${ops} · ${stagesText(layer.stages)}` : ops};
    }
    const parameters = op.parameters.map((name) => name.split('.').slice(-2).join('.')).join(', ').slice(0, 34);
    return {
      title: op.name + times + (before.has(op) ? '  ↻' : ''),
      sub: parameters || (stages > 1 ? stagesText(op.stages) : op.location)
    };
  };

  const edgeLines = (edge) => {
    const same = edge.made === edge.read && !edge.boxings.length;
    const times = edge.count > 1 ? `, ${edge.count} times in the model` : '';
    return [
      h('b', {}, edge.type),
      h('span', {}, same ? edge.read : `made ${edge.made}, read ${edge.read}`),
      ...edge.boxings.map(
          (it) =>
              h('span', {}, `${boxing(it)}, ${Format.bytes(it.bytes)} sent by a rank `,
                h('i', {class: 'mono'}, it.location))),
      h('i', {}, `${Format.bytes(edge.bytes)} on a rank${times}`),
    ];
  };

  const nodeLines = ({stages, share, loops, before}, {id, op, layer}) => {
    const it = layer || op;
    const lines = [
      h('b', {}, it.name),
      h('span', {},
        `${Format.seconds(it.seconds / stages)} of a step’s forward on a rank, ${Format.share(share(it))} of it`),
    ];
    if (!layer && op.parameters.length) lines.push(h('span', {}, `parameters ${op.parameters.join(', ')}`));
    if (!layer && before.has(op)) lines.push(h('span', {}, 'reads what the layer before has made'));
    const goesOn = layer && loops.get(id);
    if (goesOn) {
      const how = (edge) => [edge.type, edge.read, ...edge.boxings.map((it) => `by ${boxing(it)}`)].join(' ');
      lines.push(h('span', {}, `to the next one: ${[...new Set(goesOn.map(how))].slice(0, 3).join('; ')}`));
    }
    lines.push(layer ? h('i', {}, 'press to open') : h('i', {class: 'mono'}, op.location));
    return lines;
  };

  const hinted = (g, lines) => g.attr('aria-label', textOf(lines))
                                   .on('mousemove', () => Elements.showHint(d3.event, lines))
                                   .on('mouseleave', Elements.hideHint);
  const pressed = (g, act) => g.attr('tabindex', 0).attr('role', 'button').on('click', act).on('keydown', () => {
    if (d3.event.key !== 'Enter' && d3.event.key !== ' ') return;
    d3.event.preventDefault();
    act();
  });
  const rect = (g, {x, y, width, height}, radius) => g.append('rect')
                                                         .attr('x', x - width / 2)
                                                         .attr('y', y - height / 2)
                                                         .attr('width', width)
                                                         .attr('height', height)
                                                         .attr('rx', radius);
  const text = (g, x, y, words, name = null) =>
      g.append('text').attr('class', name).attr('x', x).attr('y', y).text(words);

  const drawCluster = (scene, svg, node) => {
    const {key, name, count} = node.cluster;
    const g = pressed(svg.append('g').attr('class', 'cluster'), () => {
      scene.open.delete(key);
      draw(scene, key);
    });
    g.attr('aria-expanded', 'true').attr('aria-label', `Fold ${name}`);
    rect(g, node, 10);
    text(g, node.x - node.width / 2 + 10, node.y - node.height / 2 + 16, count > 1 ? `${name}  ×${count}` : name);
  };

  const line = d3.line().x((it) => it.x).y((it) => it.y).curve(d3.curveBasis);
  const drawEdge = (svg, {edges, points, label, x, y}) => {
    const boxed = Boolean(label);
    const lines = edges.slice(0, 4).flatMap(edgeLines);
    const g = hinted(svg.append('g').attr('class', boxed ? 'edge boxed' : 'edge').attr('role', 'img'), lines);
    if (boxed) g.attr('tabindex', 0).on('focus', () => Elements.say(textOf(lines)));
    g.append('path').attr('d', line(points)).attr('marker-end', 'url(#tip)');
    g.append('path').attr('class', 'hit').attr('d', line(points));
    if (boxed) text(g, x, y + 4, label);
  };

  // An arrow of a layer to itself.
  const drawLoop = (svg, {x, y, width, height}, boxed) => {
    const [right, top] = [x + width / 2, y - height / 2];
    const way = `M${right - 16},${top} C${right - 8},${top - 22} ${right + 26},${top - 14} ${right + 1},${y - 6}`;
    svg.append('g')
        .attr('class', boxed ? 'edge boxed' : 'edge')
        .append('path')
        .attr('d', way)
        .attr('marker-end', 'url(#tip)');
  };

  const drawNode = (scene, svg, node) => {
    const {id, layer, x, y, width, height} = node;
    const g = svg.append('g').attr('class', layer ? 'node folds' : 'node').attr('data-key', id).attr('tabindex', 0);
    if (layer) {
      pressed(g, () => {
        Elements.hideHint();
        scene.open.add(id);
        draw(scene, id);
      }).attr('aria-expanded', 'false');
    } else {
      g.attr('role', 'img');
    }
    hinted(g, nodeLines(scene, node));
    rect(g, node, 7);
    const heat = width * scene.share(layer || node.op);
    rect(g, {x: x - width / 2 + heat / 2, y: y + height / 2 - 1.5, width: heat, height: 3}, 0).attr('class', 'heat');
    text(g, x, y - 3, node.title);
    text(g, x, y + 12, node.sub, 'sub');
    const goesOn = layer && scene.loops.get(id);
    if (goesOn) drawLoop(svg, node, goesOn.some((edge) => edge.boxings.length));
  };

  // Draws it anew; `key`: of the layer that was opened or folded, which the keyboard stays with.
  const draw = (scene, key = null) => {
    const graph = Folding.layout(scene.model, scene.layers, scene.open, (op, layer) => boxText(scene, op, layer));
    const {width, height} = graph.graph();
    const svg =
        d3.create('svg').attr('width', Math.max(width, 200)).attr('height', Math.max(height, 60)).attr('role', 'group');
    svg.attr('aria-label', 'Layers and what passes between them');
    svg.append('defs').html(
        '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" ' +
        'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 L8 4 L0 8 Z" fill="var(--faint)"/></marker>');
    const nodes = graph.nodes().map((id) => graph.node(id));
    const clusters = nodes.filter((node) => node.cluster).sort((a, b) => b.width * b.height - a.width * a.height);
    for (const node of clusters) drawCluster(scene, svg, node);
    for (const edge of graph.edges()) drawEdge(svg, graph.edge(edge));
    for (const node of nodes.filter((it) => !it.cluster)) drawNode(scene, svg, node);
    scene.frame.replaceChildren(svg.node());
    if (!key) return;
    const within = ({dataset}) =>
        dataset.key === key || dataset.key.startsWith(`${key}/`) || dataset.key.startsWith('op');
    const next = [...scene.frame.querySelectorAll('[data-key]')].find(within);
    if (next) next.focus({preventScroll: true});
  };

  const render = (plan) => {
    if (!plan.model.ops.length) return h('div', {class: 'panel'}, 'The plan has no forward.');
    const scene = sceneOf(plan);
    draw(scene);
    const button = (name, keys) =>
        h('button', {
          type: 'button',
          class: 'button',
          onclick: () => {
            scene.open = new Set(keys);
            draw(scene);
          }
        },
          name);
    const layers = [...scene.layers.values()];
    const outer = layers.filter((layer) => layer.outer).map((layer) => layer.key);
    const moved = new Set(plan.model.edges.flatMap((edge) => edge.boxings.map(boxing)));
    return h(
        'div', {class: 'panel long'},
        h('div', {class: 'tools'},
          h('div', {class: 'group', role: 'group', 'aria-label': 'Layers'}, button('Fold all', []),
            button('Open layers', outer), button('Open all', layers.map((layer) => layer.key))),
          h('span', {class: 'keys push'},
            'Press a blue box to open it. Violet edges move data. ↻ reads the layer before.')),
        scene.frame, moved.size ? h('p', {class: 'keys'}, `Moved in the forward: ${[...moved].join(', ')}.`) : null);
  };
  return {render};
})();
