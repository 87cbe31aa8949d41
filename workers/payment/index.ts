import type { Processor } from '../lib/processor.ts'
import { accountProcessors } from './account.ts'
import { balanceProcessors } from './balance.ts'
import { callbackProcessor } from './callback.ts'
import { collectProcessors } from './collect.ts'
import { disputeProcessors } from './dispute.ts'
import { eraseProcessor } from './erase.ts'
import { methodProcessors } from './method.ts'
import { pursueProcessors } from './pursue.ts'
import { refundProcessors } from './refund.ts'
import { captureProcessor, submitProcessor } from './submit.ts'
import { sweepProcessor } from './sweep.ts'

export const processors: readonly Processor[] = [
  submitProcessor,
  captureProcessor,
  ...pursueProcessors,
  ...refundProcessors,
  ...accountProcessors,
  ...methodProcessors,
  ...disputeProcessors,
  ...balanceProcessors,
  ...collectProcessors,
  callbackProcessor,
  sweepProcessor,
  eraseProcessor,
]
