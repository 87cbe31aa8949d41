import type { Processor } from '../lib/processor.ts'
import { assignments } from './assignments.ts'
import { counters } from './counters.ts'
import { housekeeping } from './housekeeping.ts'

export const processors: readonly Processor[] = [...assignments, ...counters, ...housekeeping]
