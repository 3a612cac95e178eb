import { once } from '../base/once.ts'
import type { Resolve } from '../net/dns/resolver.ts'
import type { World } from '../world.ts'
import type { Dns, DnsOptions, openDns } from './dns.ts'

/**
 * The same as `openDns`, whose code (30 modules) is loaded with the first query: commands without queries start sooner.
 */
export function lazyDns(options: DnsOptions): Dns & { readonly close: () => void } {
  let opened: ReturnType<typeof openDns> | undefined
  let isClosed = false
  const open = once(async () => {
    opened = (await import('./dns.ts')).openDns(options)
    if (isClosed) opened.close()
    return opened
  })
  const resolveBy =
    (name: 'resolve' | 'uncached' | 'direct'): Resolve =>
    (...question) =>
      opened ? opened[name](...question) : open().then((dns) => dns[name](...question))
  const askServer: World['askServer'] = (...question) =>
    opened ? opened.askServer(...question) : open().then((dns) => dns.askServer(...question))
  return {
    resolve: resolveBy('resolve'),
    uncached: resolveBy('uncached'),
    direct: resolveBy('direct'),
    askServer,
    close: () => {
      isClosed = true
      opened?.close()
    },
  }
}
