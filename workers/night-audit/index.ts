import type { Processor } from '../lib/processor.ts'
import { businessDays } from './business-days.ts'
import { closeDay } from './close-business-day.ts'

export const processors: readonly Processor[] = [businessDays, closeDay]
