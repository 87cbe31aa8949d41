import { simulatorHost } from '../../../config/channels.ts'
import { settings } from '../../../config/env.ts'
import { standIn } from '../../lib/outgoing.ts'
import type { Driver } from '../driver.ts'
import { open } from './open.ts'

// In development and tests a peer on this machine plays the channel. In production no peer is configured, and no call is made.
if (!settings.production && settings.channelSimulatorPort > 0)
  standIn({ host: simulatorHost, port: settings.channelSimulatorPort })

/** Driver for the process on CHANNEL_SIMULATOR_PORT, which plays a channel by the open contract. */
export const simulator: Driver = open
