import closeWithGrace from 'close-with-grace'
import type { Config } from '../config.ts'
import type { Logger } from '../log.ts'
import { warnOfOpenFolder } from './data-folder.ts'
import { tellFirstLook } from './first-look.ts'
import { optionError } from './problems.ts'
import { DRAIN_MS, drained, listen, openHttp, openService, STOP_MS, startBackground, tellListening } from './service.ts'

/**
 * Serves HTTP until SIGTERM or SIGINT, then drains: new requests get 503, running ones have 30 s, exit status 0.
 */
export async function serve(config: Config, logger: Logger, version: string): Promise<number> {
  if (config.accept !== undefined) throw optionError('accept', undefined, { at: '--accept' })
  const service = await openService(config, logger, version)
  const { metrics, outside } = service
  warnOfOpenFolder(config.dataDir, outside.world.log)
  let draining = false
  const app = await openHttp(service, () => draining)
  metrics.watch(service.provide, outside.world.now, app.underWay, outside.lane.stats)
  const leaving = new AbortController()
  const load = () => ({ active: app.underWay(), capacity: config.maxConcurrency })
  const background = await startBackground(service, { load, signal: leaving.signal })
  const url = await listen(app, config)
  tellListening(service, url)
  void tellFirstLook(service, url, leaving.signal)
  return new Promise((resolve) => {
    closeWithGrace({ delay: DRAIN_MS + STOP_MS, logger: false }, async ({ err, signal }) => {
      if (err) logger.error({ err }, 'an unexpected error ends the service')
      draining = true
      leaving.abort()
      const ends = Promise.all([background.close(), service.handBack()])
      logger.info({ signal }, 'stopping: waiting for running requests')
      await Promise.all([drained(app), ends])
      await service.shutDown()
      await outside.close()
      resolve(err ? 1 : 0)
    })
  })
}
