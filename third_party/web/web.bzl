"""@web: libraries of the distribution that pages embed, one file each; nothing is downloaded or copied.

    @web//:d3.min.js      scales, axes, zoom and paths of charts (node-d3)
    @web//:dagre.min.js   where the nodes of a graph go (node-dagre-layout)
"""

_LIBRARIES = {
    "d3.min.js": ["/usr/share/nodejs/d3/dist/d3.min.js", "node-d3"],
    "dagre.min.js": ["/usr/share/nodejs/dagre/dist/dagre.min.js", "node-dagre-layout"],
}

def _web_impl(ctx):
    for name, (path, package) in _LIBRARIES.items():
        if not ctx.path(path).exists:
            fail("%s of Debian's package %s: expected, found none: run tools/setup" % (path, package))
        ctx.symlink(path, name)
    ctx.file("BUILD", "exports_files(%r, visibility = [\"//visibility:public\"])\n" % sorted(_LIBRARIES.keys()))

web_configure = repository_rule(implementation = _web_impl, local = True)
