// The messages between an MCP App and the host that holds its frame: JSON-RPC 2.0 by postMessage.

export interface Acts {
  /** The arguments of the call. */
  input: (given: Record<string, unknown>) => void;
  result: (result: unknown) => void;
  cancelled: (reason: string) => void;
  theme: (theme: 'light' | 'dark') => void;
  /** The host is about to remove the frame. */
  closing: () => void;
}

const VERSION = '2026-01-26';

function fields(value: unknown): Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

export class Host {
  private readonly acts: Acts;
  private begun: ((result: Record<string, unknown>) => void) | null = null;

  constructor(acts: Acts) {
    this.acts = acts;
    window.addEventListener('message', (event) => {
      // Other frames of the host's page have no say.
      if (event.source === window.parent) this.hear(fields(event.data));
    });
  }

  /** Shakes hands, and tells the host how large `content` is from then on. */
  async begin(content: HTMLElement): Promise<void> {
    const answer = await new Promise<Record<string, unknown>>((done) => {
      this.begun = done;
      this.post({ id: 1, method: 'ui/initialize', params: { protocolVersion: VERSION, appInfo: { name: 'photic', version: VERSION }, appCapabilities: { availableDisplayModes: ['inline', 'fullscreen'] } } });
    });
    this.context(answer['hostContext']);
    this.post({ method: 'ui/notifications/initialized', params: {} });
    let told = '';
    const tell = () => {
      const [width, height] = [document.documentElement.clientWidth, Math.ceil(content.getBoundingClientRect().height)];
      if (told === `${width} ${height}`) return;
      told = `${width} ${height}`;
      this.post({ method: 'ui/notifications/size-changed', params: { width, height } });
    };
    new ResizeObserver(tell).observe(content);
  }

  private post(message: Record<string, unknown>): void {
    // The host's origin is not known to the frame, and nothing secret is in a message.
    window.parent.postMessage({ jsonrpc: '2.0', ...message }, '*');
  }

  private context(value: unknown): void {
    const { theme } = fields(value);
    if (theme === 'light' || theme === 'dark') this.acts.theme(theme);
  }

  private hear(message: Record<string, unknown>): void {
    const { id, method } = message;
    if (message['jsonrpc'] !== '2.0') return;
    if (method === undefined) {
      if (id === 1 && message['error'] === undefined) this.begun?.(fields(message['result']));
      return;
    }
    const params = fields(message['params']);
    switch (method) {
      case 'ui/notifications/tool-input': return this.acts.input(fields(params['arguments']));
      case 'ui/notifications/tool-result': return this.acts.result(params);
      case 'ui/notifications/tool-cancelled': return this.acts.cancelled(typeof params['reason'] === 'string' ? params['reason'] : '');
      case 'ui/notifications/host-context-changed': return this.context(params);
      case 'ui/resource-teardown': this.acts.closing(); break;
      case 'ping': break;
      default:
        if (id !== undefined) this.post({ id, error: { code: -32601, message: 'This view does not know the method.' } });
        return;
    }
    if (id !== undefined) this.post({ id, result: {} });
  }
}
