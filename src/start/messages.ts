import { within } from '../base/deadline.ts'
import { invalidFlag, messageOf } from '../base/errors.ts'
import type { Config } from '../config.ts'
import type { Listening } from '../mail-in/mail-server.ts'
import type { Provide } from '../operations/operation.ts'
import type { World } from '../world.ts'
import { optionFile } from './option-file.ts'
import { startProblem } from './problems.ts'

const ANALYSIS_MS = 30_000
/** Interval between looks at the files of the certificate, ms. */
const CERTIFICATE_MS = 3_600_000

type Files = Pick<Config, 'messagesCert' | 'messagesKey'>

/** Starts the server that receives messages. Throws AppError if an option is missing, or it cannot listen. */
export async function startMessages(
  { messagesListen: listen, ...config }: Config & { readonly messagesListen: string },
  provide: Provide,
  world: World,
): Promise<Pick<Listening, 'close'>> {
  const { messagesDomain: domain, maxMessage: maxOctets } = config
  if (domain === undefined)
    throw invalidFlag('messages-domain', startProblem('needed_for', { flag: 'messages-listen' }))
  const tls = certificateOf(config)
  const [{ startReceiving }, { ANALYSIS_DEPS, analyseMessage }] = await Promise.all([
    import('../mail-in/receive.ts'),
    import('../operations/message/analysis.ts'),
  ])
  const deps = await provide(ANALYSIS_DEPS)
  deps.messages.inbox.open(domain)
  const leaving = new AbortController()
  const receiving = await startReceiving({
    listen: listen.replace(/^lmtp:/, ''),
    lmtp: listen.startsWith('lmtp:') || listen.includes('/'),
    domain,
    maxOctets,
    world,
    inbox: deps.messages.inbox,
    ...(tls && { tls }),
    analyse: (raw, envelope, onRead) =>
      analyseMessage({ ...world, signal: within(ANALYSIS_MS, leaving.signal) }, deps, raw, {
        envelope,
        onRead,
        by: { caller: 'mail', isMail: true },
      }),
  }).catch((cause: Error) => {
    throw invalidFlag('messages-listen', startProblem('not_opened', { reason: cause.message }), { cause })
  })
  const renewing = setInterval(() => renew(config, receiving.useCertificate, world), CERTIFICATE_MS).unref()
  return {
    close: async () => {
      clearInterval(renewing)
      await receiving.close()
      leaving.abort(new DOMException('the service stops', 'AbortError'))
    },
  }
}

/** The certificate and its key; undefined without them. Throws AppError if one is missing or cannot be read. */
function certificateOf({ messagesCert, messagesKey }: Files): { cert: string; key: string } | undefined {
  if (messagesCert === undefined && messagesKey === undefined) return undefined
  if (messagesCert === undefined)
    throw invalidFlag('messages-cert', startProblem('needed_for', { flag: 'messages-key' }))
  if (messagesKey === undefined)
    throw invalidFlag('messages-key', startProblem('needed_for', { flag: 'messages-cert' }))
  return { cert: optionFile('messages-cert', messagesCert), key: optionFile('messages-key', messagesKey) }
}

/** Certificates are renewed while the service runs; one that cannot be read leaves the old one in force. */
function renew(files: Files, use: (tls: { cert: string; key: string }) => void, { log }: Pick<World, 'log'>): void {
  try {
    const tls = certificateOf(files)
    if (tls) use(tls)
  } catch (error) {
    log.warn('the certificate for messages could not be read again', { reason: messageOf(error) })
  }
}
