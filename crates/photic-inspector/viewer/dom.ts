// Elements are made by calls, never from text: what a session says can only become text.

export type Child = Node | string | number | null | undefined | false | Child[];

type Listeners = { [K in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[K]) => void };
export type Attributes = {
  on?: Listeners;
  style?: Record<string, string | number>;
  [name: string]: unknown;
};

function fill(element: Element & ElementCSSInlineStyle, attributes: Attributes | null, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === 'on') {
      for (const [event, listener] of Object.entries(value as Listeners)) {
        element.addEventListener(event, listener as EventListener);
      }
    } else if (name === 'style') {
      for (const [property, set] of Object.entries(value as Record<string, string | number>)) {
        element.style.setProperty(property, String(set));
      }
    } else {
      element.setAttribute(name, value === true ? '' : String(value));
    }
  }
  add(element, children);
}

function add(element: Element, children: Child[]): void {
  for (const child of children) {
    if (Array.isArray(child)) add(element, child);
    else if (child !== null && child !== undefined && child !== false) {
      element.append(child instanceof Node ? child : document.createTextNode(String(child)));
    }
  }
}

/** An HTML element: `h('a.link', {href}, 'text')`. */
export function h<T extends HTMLElement = HTMLElement>(name: string, attributes?: Attributes | null, ...children: Child[]): T {
  const [tag, ...classes] = name.split('.');
  const element = document.createElement(tag || 'div') as T;
  if (classes.length) element.className = classes.join(' ');
  fill(element, attributes ?? null, children);
  return element;
}

/** An SVG element. */
export function svg(tag: string, attributes?: Attributes | null, ...children: Child[]): SVGElement {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag) as SVGElement;
  fill(element, attributes ?? null, children);
  return element;
}

export function clear(element: Element, ...children: Child[]): void {
  element.replaceChildren();
  add(element, children);
}

export function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no #${id}`);
  return element;
}

const PATHS: Record<string, string> = {
  warn: 'M8 2 14.6 13.6H1.4L8 2Zm0 4.2v3.6M8 11.6v.4',
  bad: 'M8 1.6a6.4 6.4 0 1 0 0 12.8A6.4 6.4 0 0 0 8 1.6ZM5.7 5.7l4.6 4.6m0-4.6-4.6 4.6',
  coin: 'M8 1.6a6.4 6.4 0 1 0 0 12.8A6.4 6.4 0 0 0 8 1.6ZM10 5.8C9.6 5.1 8.9 4.8 8 4.8c-1.2 0-2 .6-2 1.5 0 2.2 4 1.2 4 3.4 0 .9-.8 1.5-2 1.5-.9 0-1.7-.3-2.1-1M8 3.5v9',
  fix: 'm2.2 11.7 4.6-4.6a3.5 3.5 0 0 1 4.4-4.6L9 4.7l.3 2 2 .3 2.2-2.2A3.5 3.5 0 0 1 8.9 9.2l-4.6 4.6-2.1-2.1Z',
  learn: 'M1.5 5.2 8 2.4l6.5 2.8L8 8 1.5 5.2Zm3 1.5v4c2 1.8 5 1.8 7 0v-4',
  pin: 'm9.5 1.7 4.8 4.8-2.7.7-2.2 2.2-.5 2.9-5.2-5.2 2.9-.5 2.2-2.2.7-2.7ZM6 10l-4 4',
  shrink: 'M9.5 6.5 14 2M9.5 3v3.5H13M6.5 9.5 2 14M6.5 13V9.5H3',
  search: 'M7 2a5 5 0 1 0 0 10A5 5 0 0 0 7 2Zm3.6 8.6L14 14',
  down: 'M8 2v8.5M4.5 7 8 10.5 11.5 7M2.5 14h11',
  left: 'M10 3 5 8l5 5',
  right: 'm6 3 5 5-5 5',
  info: 'M8 1.6a6.4 6.4 0 1 0 0 12.8A6.4 6.4 0 0 0 8 1.6ZM8 7.2v4M8 4.7v.5',
};

export type IconName = keyof typeof PATHS;

export function icon(name: string): SVGElement {
  return svg(
    'svg',
    { viewBox: '0 0 16 16', 'aria-hidden': 'true', class: 'icon', fill: 'none', stroke: 'currentColor', 'stroke-width': 1.5, 'stroke-linejoin': 'round', 'stroke-linecap': 'round' },
    svg('path', { d: PATHS[name] ?? '' }),
  );
}

export function logo(): SVGElement {
  return svg(
    'svg',
    { viewBox: '0 0 20 20', 'aria-hidden': 'true', fill: 'none', stroke: 'currentColor', 'stroke-width': 1.8 },
    svg('rect', { x: 1.5, y: 3, width: 17, height: 14, rx: 3 }),
    svg('circle', { cx: 10, cy: 10, r: 3.6 }),
    svg('circle', { cx: 10, cy: 10, r: 1.2, fill: 'currentColor', stroke: 'none' }),
  );
}
