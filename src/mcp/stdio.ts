import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { type McpSetup, mcpServer } from './server.ts'

/**
 * Serves the protocol over standard input and output until the input ends or `signal` fires. Other faults go to
 * `onFault`.
 */
export async function mcpOverStdio(
  setup: McpSetup,
  { signal, onFault }: { readonly signal: AbortSignal; readonly onFault: (error: Error) => void },
): Promise<void> {
  const ended = new Promise<void>((resolve) => {
    process.stdin.once('end', resolve)
    process.stdin.once('close', resolve)
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
  const handle = serveStdio(() => mcpServer(setup), { onerror: onFault })
  await ended
  await handle.close()
}
