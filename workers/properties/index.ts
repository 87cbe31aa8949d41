import type { Processor } from '../lib/processor.ts'
import { gallery } from './gallery.ts'
import { rates } from './rates.ts'

export const processors: readonly Processor[] = [...gallery, ...rates]
