// SPDX-License-Identifier: GPL-2.0-or-later
// Where boxes and arrows lie. The same graph lies the same way each time.
import dagre from '@dagrejs/dagre';

const BOX_HEIGHT = 46;
const LETTER = 7.1;
const LABEL_LETTER = 6.2;

const widthOf = (name) => Math.max(84, name.length * LETTER + 22);

/** A curve through the points. */
function curve(points) {
  const [first, ...rest] = points;
  let path = `M${first.x},${first.y}`;
  if (rest.length === 1) return `${path}L${rest[0].x},${rest[0].y}`;
  for (let i = 0; i < rest.length - 1; ++i) {
    const end = i === rest.length - 2 ? rest[i + 1] : { x: (rest[i].x + rest[i + 1].x) / 2, y: (rest[i].y + rest[i + 1].y) / 2 };
    path += `Q${rest[i].x},${rest[i].y} ${end.x},${end.y}`;
  }
  return path;
}

/** boxes: [{ index, name }]; arrows: [{ index, from, to, label, width }]. */
export function layOut(boxes, arrows) {
  const graph = new dagre.graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: 'LR', nodesep: 26, ranksep: 40, edgesep: 16, marginx: 12, marginy: 12 });
  graph.setDefaultEdgeLabel(() => ({}));
  const loops = new Set(arrows.filter((arrow) => arrow.from === arrow.to).map((arrow) => arrow.from));
  for (const box of boxes) {
    graph.setNode(String(box.index), { width: widthOf(box.name), height: BOX_HEIGHT + (loops.has(box.index) ? 44 : 0) });
  }
  for (const arrow of arrows) {
    if (arrow.from === arrow.to) continue;
    const width = arrow.label.length * LABEL_LETTER + 10;
    graph.setEdge(String(arrow.from), String(arrow.to), { width, height: 16, labelpos: 'c' }, String(arrow.index));
  }
  dagre.layout(graph);
  const placed = new Map(boxes.map((box) => {
    const at = graph.node(String(box.index));
    const shift = loops.has(box.index) ? 22 : 0;
    return [box.index, { x: at.x, y: at.y + shift, width: at.width, height: BOX_HEIGHT }];
  }));
  const drawn = arrows.map((arrow) => {
    if (arrow.from === arrow.to) {
      const box = placed.get(arrow.from);
      const top = box.y - box.height / 2;
      return {
        ...arrow, path: `M${box.x - 16},${top}C${box.x - 34},${top - 36} ${box.x + 34},${top - 36} ${box.x + 16},${top}`,
        label: { text: arrow.label, x: box.x, y: top - 34 },
      };
    }
    const edge = graph.edge(String(arrow.from), String(arrow.to), String(arrow.index));
    return { ...arrow, path: curve(edge.points), label: { text: arrow.label, x: edge.x, y: edge.y } };
  });
  const { width, height } = graph.graph();
  return { boxes: placed, arrows: drawn, width: Math.max(width, 100), height: Math.max(height, 60) };
}
