import { createServer } from 'node:net'
import { scriptedListeners } from './scripts.ts'

/** Opens the scripted mail hosts on port 25; resolves when all listen. They end with the process. */
export const startScripted = async (): Promise<void> => {
  await Promise.all(scriptedListeners.map((row) => listen(row.address, row.play)))
}

const listen = (address: string, play: (typeof scriptedListeners)[number]['play']) =>
  new Promise<void>((resolve, reject) => {
    const server = createServer((socket) => {
      socket.on('error', () => {}).resume()
      play(socket)
    })
    server.once('error', reject)
    server.listen(25, address, resolve)
  })
