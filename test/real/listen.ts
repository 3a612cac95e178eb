import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { createServer, type Server } from 'node:net'

/** What arrived at some addresses, and how to stop listening. */
export type Watch = { readonly arrivals: string[]; readonly close: () => void }

/**
 * Takes what is sent to a port of these addresses by UDP and TCP, notes `address udp` or `address tcp`, and answers
 * nothing.
 */
export async function watchPort(port: number, addresses: readonly string[]): Promise<Watch> {
  const arrivals: string[] = []
  const opened = await Promise.all(
    addresses.flatMap((address) => [
      udp(port, address, () => void arrivals.push(`${address} udp`)),
      tcp(port, address, () => void arrivals.push(`${address} tcp`)),
    ]),
  )
  return { arrivals, close: () => opened.forEach((one) => void one.close()) }
}

type Heard = (message: Buffer, from: RemoteInfo, socket: Socket) => void

/** A UDP socket that gives each datagram to `heard`. */
export const udp = (port: number, address: string, heard: Heard): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4')
    socket.once('error', reject).on('message', (message, from) => heard(message, from, socket))
    socket.bind(port, address, () => resolve(socket))
  })

const tcp = (port: number, address: string, heard: () => void): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = createServer((socket) => {
      heard()
      socket.on('error', () => {}).destroy()
    })
    server.once('error', reject).listen(port, address, () => resolve(server))
  })
