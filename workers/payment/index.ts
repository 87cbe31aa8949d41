import type { Processor } from '../lib/processor.ts'
import { callbackProcessor } from './callback.ts'
import { eraseProcessor } from './erase.ts'
import { pursueProcessors } from './pursue.ts'
import { refundProcessors } from './refund.ts'
import { submitProcessor } from './submit.ts'
import { sweepProcessor } from './sweep.ts'

export const processors: readonly Processor[] = [
  submitProcessor,
  ...pursueProcessors,
  ...refundProcessors,
  callbackProcessor,
  sweepProcessor,
  eraseProcessor,
]
