import type { Problem } from '../../base/problem.ts'
import { FetchError, isTheirs } from '../../net/fetch.ts'
import type { Ctx } from '../../world.ts'
import { logoProblem } from './problems.ts'
import type { SvgReading } from './svg.ts'

/** The fetched logo, or why it could not be fetched. */
export type Logo =
  | { readonly kind: 'read'; readonly bytes: number; readonly svg: SvgReading }
  /** Receivers get the same fault: an HTTP status, a certificate, a size, a file that is not a logo. */
  | { readonly kind: 'unusable'; readonly reason: Problem }
  /** Possibly a fault of our own network. */
  | { readonly kind: 'unknown'; readonly reason: Problem }

/** Maximum size of a logo, bytes, compressed and decompressed; 32 KiB are recommended. */
const MAX_BYTES = 512 * 1024
const REDIRECTS = 3

/** Fetches a logo and parses it. Does not reject because of the other side. */
export async function fetchLogo(ctx: Pick<Ctx, 'fetch' | 'signal'>, url: string): Promise<Logo> {
  try {
    const { status, body } = await ctx.fetch(url, ctx.signal, {
      maxBytes: MAX_BYTES,
      redirects: REDIRECTS,
      accept: 'image/svg+xml',
    })
    if (status !== 200) return { kind: 'unusable', reason: logoProblem('status', { status }) }
    const unpacked = await unpack(body)
    if (!unpacked)
      return {
        kind: 'unusable',
        reason: logoProblem('compressed'),
      }
    const { readSvg } = await import('./svg.ts')
    return { kind: 'read', bytes: unpacked.length, svg: readSvg(new TextDecoder().decode(unpacked)) }
  } catch (error) {
    if (!(error instanceof FetchError)) throw error
    return { kind: isTheirs(error) ? 'unusable' : 'unknown', reason: error.problem }
  }
}

/** SVGZ is gzip (RFC 1952); a file that exceeds the bound when unpacked is not a logo. */
async function unpack(body: Uint8Array): Promise<Uint8Array | undefined> {
  if (body[0] !== 0x1f || body[1] !== 0x8b) return body
  const { gunzipSync } = await import('node:zlib')
  try {
    return gunzipSync(body, { maxOutputLength: MAX_BYTES })
  } catch {
    return undefined
  }
}
