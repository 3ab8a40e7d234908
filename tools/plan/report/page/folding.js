// A model's ops with layers folded into one box each, and where the boxes go.
const Folding = (() => {
  // "h.*.attn.c_attn" is within "h.*", then "attn", then "c_attn": a number belongs to the word before it.
  const pathOf = (scope) => {
    const parts = [];
    for (const word of scope ? scope.split('.') : []) {
      if (/^(\*|\d+)$/.test(word) && parts.length)
        parts[parts.length - 1] += `.${word}`;
      else
        parts.push(word);
    }
    return parts;
  };
  // "h.3" and "h.*" are one layer.
  const keyOf = (path) => path.join('/').replace(/\.(\*|\d+)/g, '.*');

  // Says of each op within which layers it is; the layers by key, each with what is in it.
  const layersOf = (model) => {
    const layers = new Map();
    model.ops.forEach((op, i) => {
      const path = pathOf(op.scope);
      op.id = `op${i}`;
      op.path = path.map((_, depth) => keyOf(path.slice(0, depth + 1)));
      op.path.forEach((key, depth) => {
        const count = model.layers[key.replace(/\//g, '.')] || 1;
        const name = path[depth].replace(/\.\d+$/, '.*');
        if (!layers.has(key))
          layers.set(key, {key, name, seconds: 0, ops: 0, count, stages: new Set(), outer: depth === 0});
        const layer = layers.get(key);
        layer.seconds += op.seconds;
        layer.ops += 1;
        for (const stage of op.stages) layer.stages.add(stage);
      });
    });
    return layers;
  };

  // Of tensors that go to the next instance of a layer, by the layer.
  const loopsOf = (model, layers) => {
    const loops = new Map();
    for (const edge of model.edges.filter((it) => it.next)) {
      const key = model.ops[edge.to].path.find((it) => layers.get(it).count > 1);
      loops.set(key, [...(loops.get(key) || []), edge]);
    }
    return loops;
  };

  // What to open first: what there is once and has layers that are repeated.
  const openAtFirst = (layers) => {
    const open = new Set();
    for (const {key, count} of layers.values()) {
      const outer = key.split('/').slice(0, -1);
      if (count > 1) outer.forEach((_, depth) => open.add(outer.slice(0, depth + 1).join('/')));
    }
    return new Set([...open].filter((key) => layers.get(key).count === 1));
  };

  // The graph of what is shown while the layers `open` are open: `box(id, op or layer)` says {title, sub} of a box.
  const layout = (model, layers, open, box) => {
    const graph = new dagre.graphlib.Graph({compound: true, multigraph: true});
    graph.setGraph({rankdir: 'TB', nodesep: 26, ranksep: 40, edgesep: 18, marginx: 16, marginy: 16});
    const shownAs = (op) => op.path.find((key) => !open.has(key)) || op.id;
    // What nothing reads and what reads nothing says nothing here.
    const joined = new Set(model.edges.flatMap((edge) => [model.ops[edge.from], model.ops[edge.to]]));
    for (const op of model.ops.filter((it) => joined.has(it) || it.parameters.length)) {
      const id = shownAs(op);
      if (!graph.hasNode(id)) {
        const {title, sub} = box(op, layers.get(id));
        const width = Math.max(96, 26 + 7.1 * Math.max(title.length, 0.92 * sub.length));
        graph.setNode(id, {id, title, sub, op, layer: layers.get(id), width, height: 42});
      }
      const around = op.path.filter((key) => open.has(key)).map((key) => `in ${key}`);
      around.forEach((cluster, depth) => {
        graph.setNode(cluster, graph.node(cluster) || {cluster: layers.get(cluster.slice(3))});
        if (depth) graph.setParent(cluster, around[depth - 1]);
      });
      if (around.length) graph.setParent(id, around[around.length - 1]);
    }
    const merged = new Map();
    for (const edge of model.edges) {
      const [from, to] = [shownAs(model.ops[edge.from]), shownAs(model.ops[edge.to])];
      if (from === to || edge.next) continue;
      const label = edge.boxings.map((it) => it.kind).join(' → ');
      const key = `${from}|${to}|${label}`;
      if (!merged.has(key)) merged.set(key, {from, to, label, edges: []});
      merged.get(key).edges.push(edge);
    }
    for (const [key, {from, to, label, edges}] of merged) {
      const size = label ? {width: 8 + 6.2 * label.length, height: 14, labelpos: 'c'} : {width: 0, height: 0};
      graph.setEdge(from, to, {label, edges, ...size}, key);
    }
    dagre.layout(graph);
    return graph;
  };

  return {layersOf, loopsOf, openAtFirst, layout};
})();
