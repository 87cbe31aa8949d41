import { simulatorHost } from '../../../config/channels.ts'
import { settings } from '../../../config/env.ts'
import { standIn } from '../../lib/outgoing.ts'
import type { Driver } from '../driver.ts'
import { open } from './open.ts'

// In development and in tests a peer on this machine plays the channel; in production nothing stands for its host, and nobody is called.
if (!settings.production && settings.channelSimulatorPort > 0)
  standIn({ host: simulatorHost, port: settings.channelSimulatorPort })

/** A channel that is played by a process of this machine: the same contract, with whoever listens on CHANNEL_SIMULATOR_PORT. */
export const simulator: Driver = open
