//! A graph as SVG. `layout-rs` finds the places; everything that is drawn is written here, so that text is escaped.

use layout::core::base::Orientation;
use layout::core::color::Color;
use layout::core::format::{ClipHandle, RenderBackend};
use layout::core::geometry::Point;
use layout::core::style::{LineStyleKind, StyleAttr};
use layout::std_shapes::shapes::{Arrow, Element, LineEndKind, ShapeKind};
use layout::topo::layout::VisualGraph;

use super::markup::{Markup, tenths};
use crate::diag::shortened;
use crate::report::graph::{Graph, GraphLanguage, NodeShape, Stroke};

/// Maximum number of characters of a line of a node.
const MAX_LINE: usize = 48;

const FONT: usize = 12;
const LINE_HEIGHT: f64 = 15.0;
const MARGIN: f64 = 10.0;

/// The picture under construction: arrows lie below nodes.
#[derive(Default)]
struct Canvas {
    arrows: Markup,
    nodes: Markup,
    width: f64,
    height: f64,
}

/// Draws a graph from left to right; returns the picture with its width and height.
pub(super) fn draw(graph: &Graph) -> (Markup, (f64, f64)) {
    let look = |rounded| StyleAttr::new(Color::fast("black"), 1, None, rounded, FONT);
    let mut visual = VisualGraph::new(Orientation::LeftToRight);
    let mut handles = Vec::new();
    for node in graph.nodes() {
        let lines: Vec<_> = node
            .lines
            .iter()
            .map(|line| shortened(line, MAX_LINE))
            .collect();
        let longest = lines
            .iter()
            .map(|line| line.chars().count())
            .max()
            .unwrap_or(0);
        // Nothing here can measure text: a letter counts as seven units.
        let size = Point::new(
            7.0 * longest as f64 + 18.0,
            LINE_HEIGHT * lines.len() as f64 + 12.0,
        );
        let (class, rounded) = match node.shape {
            NodeShape::Box => ("box", 0),
            NodeShape::Dashed => ("box dashed", 0),
            NodeShape::Cylinder => ("box stored", 0),
            NodeShape::Round => ("box round", 14),
        };
        let shape = ShapeKind::new_box(&lines.join("\n"));
        let element = Element::create_with_properties(
            shape,
            look(rounded),
            Orientation::LeftToRight,
            size,
            class,
        );
        handles.push(visual.add_node(element));
    }
    for edge in graph.edges() {
        let style = match edge.stroke {
            Stroke::Solid => LineStyleKind::Normal,
            Stroke::Dashed => LineStyleKind::Dashed,
        };
        let label = shortened(&edge.label, MAX_LINE);
        let arrow = Arrow::new(
            LineEndKind::None,
            LineEndKind::Arrow,
            style,
            &label,
            &look(0),
            &None,
            &None,
        );
        let (from, to) = edge.ends();
        visual.add_edge(arrow, handles[from], handles[to]);
    }
    let mut canvas = Canvas::default();
    if !handles.is_empty() {
        visual.do_it(false, false, false, &mut canvas);
    }
    let mut picture = canvas.arrows;
    // Boxes come last, so that no arrow is drawn over their text.
    picture.add(&canvas.nodes);
    let size = (
        (canvas.width + MARGIN).ceil(),
        (canvas.height + MARGIN).ceil(),
    );
    (picture, size)
}

/// Adds graphs to a page, each with its arrows as a list for those who do not see pictures.
pub(super) fn section(out: &mut Markup, graphs: &[(String, Graph)]) {
    out.raw("<section aria-labelledby=\"graphs\">\n<h2 id=\"graphs\">Graphs</h2>\n");
    if graphs.is_empty() {
        out.raw("<p><code>--graph ROOT</code> draws the modules of a root, and <code>--graph ADDR</code> what requires a provider.</p>\n");
    }
    for (subject, graph) in graphs {
        out.put("<figure>\n<figcaption>{}</figcaption>\n", &[subject]);
        match graph.too_large(GraphLanguage::Svg) {
            Some(reason) => {
                out.put("<p>{}</p>\n", &[&reason]);
            }
            None => {
                let (picture, (width, height)) = draw(graph);
                out.put(
                    "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Picture of {}\">\
                     <svg class=\"picture graph\" role=\"img\" width=\"{}\" height=\"{}\" aria-label=\"Graph of {}\">",
                    &[subject, &width, &height, subject],
                );
                out.add(&picture).raw("</svg></div>\n");
            }
        }
        let line = |at: usize| graph.nodes()[at].lines.join(", ");
        out.raw("<details><summary>As text</summary><ul>\n");
        for edge in graph.edges() {
            let (from, to) = edge.ends();
            out.put("<li>{} → {} {}\n", &[&line(from), &line(to), &edge.label]);
        }
        out.raw("</ul></details>\n</figure>\n");
    }
    out.raw("</section>\n");
}

impl Canvas {
    fn grow(&mut self, point: Point) {
        self.width = self.width.max(point.x);
        self.height = self.height.max(point.y);
    }

    fn point(&mut self, point: Point) {
        self.arrows
            .put("{} {} ", &[&tenths(point.x), &tenths(point.y)]);
    }
}

impl RenderBackend for Canvas {
    fn draw_rect(
        &mut self,
        xy: Point,
        size: Point,
        look: &StyleAttr,
        class: Option<String>,
        _: Option<ClipHandle>,
    ) {
        self.grow(xy.add(size));
        self.nodes.put(
            "<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\"/>",
            &[
                &class.unwrap_or_default(),
                &tenths(xy.x),
                &tenths(xy.y),
                &tenths(size.x),
                &tenths(size.y),
                &look.rounded,
            ],
        );
    }

    fn draw_line(&mut self, _: Point, _: Point, _: &StyleAttr, _: Option<String>) {}

    fn draw_circle(&mut self, _: Point, _: Point, _: &StyleAttr, _: Option<String>) {}

    fn draw_text(&mut self, xy: Point, text: &str, _: &StyleAttr) {
        let lines: Vec<&str> = text.split('\n').collect();
        let top = xy.y - LINE_HEIGHT * (lines.len() as f64 - 1.0) / 2.0 + 4.0;
        for (at, line) in lines.iter().enumerate() {
            let y = top + LINE_HEIGHT * at as f64;
            self.nodes.put(
                "<text class=\"middle\" x=\"{}\" y=\"{}\">{}</text>",
                &[&tenths(xy.x), &tenths(y), line],
            );
        }
    }

    fn draw_arrow(
        &mut self,
        path: &[(Point, Point)],
        dashed: bool,
        _: (bool, bool),
        _: &StyleAttr,
        _: Option<String>,
        text: &str,
    ) {
        let class = if dashed { "arrow dashed" } else { "arrow" };
        self.arrows.put("<path class=\"{}\" d=\"M", &[&class]);
        self.point(path[0].0);
        self.arrows.raw("C");
        self.point(path[0].1);
        self.point(path[1].0);
        self.point(path[1].1);
        for part in &path[2..] {
            self.arrows.raw("S");
            self.point(part.0);
            self.point(part.1);
        }
        self.arrows.raw("\"/>");
        for part in path {
            self.grow(part.0);
            self.grow(part.1);
        }
        // The tip points to the right, as all arrows do.
        let end = path[path.len() - 1].1;
        self.arrows.raw("<path class=\"tip\" d=\"M");
        self.point(end);
        self.arrows.raw("l-7 -4v8z\"/>");
        if !text.is_empty() {
            self.draw_text(path[path.len() / 2].0, text, &StyleAttr::simple());
        }
    }

    fn create_clip(&mut self, _: Point, _: Point, _: usize) -> ClipHandle {
        0
    }
}
