import dgram from 'node:dgram'
import net from 'node:net'

/** Unit tests reach loopback only: a stray socket is a failure and not a slow pass. */
const LOOPBACK = /^(?:127\.|::1$|localhost$|::ffff:127\.)/

const connect = net.Socket.prototype.connect
net.Socket.prototype.connect = function (this: net.Socket, ...args: unknown[]) {
  const flat = args.flat() as unknown[]
  const options = flat[0]
  const host =
    typeof options === 'object' && options !== null
      ? (options as { host?: string; path?: string }).path === undefined
        ? ((options as { host?: string }).host ?? 'localhost')
        : 'localhost'
      : typeof options === 'number'
        ? typeof flat[1] === 'string'
          ? flat[1]
          : 'localhost'
        : 'localhost'
  if (!LOOPBACK.test(host)) throw new Error(`a test dialled ${host}: tests reach loopback only`)
  return connect.apply(this, args as never)
} as typeof connect

const send = dgram.Socket.prototype.send
dgram.Socket.prototype.send = function (this: dgram.Socket, ...args: unknown[]) {
  const host = args.find((arg) => typeof arg === 'string' && net.isIP(arg) !== 0) as string | undefined
  if (host !== undefined && !LOOPBACK.test(host)) throw new Error(`a test sent to ${host}: tests reach loopback only`)
  return send.apply(this, args as never)
} as typeof send
