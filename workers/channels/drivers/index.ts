import type { ChannelDriver } from '../../../config/channels.ts'
import type { Driver } from '../driver.ts'
import { open } from './open.ts'
import { simulator } from './simulator.ts'

const drivers: Record<ChannelDriver, Driver> = { open, simulator }

export const driverOf = (name: ChannelDriver): Driver => drivers[name]
