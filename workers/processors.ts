import type { Processor } from './lib/processor.ts'
import { processors as channels } from './channels/index.ts'
import { processors as inventory } from './inventory/index.ts'
import { processors as jobs } from './jobs/index.ts'
import { processors as ledger } from './ledger/index.ts'
import { processors as maintenance } from './maintenance/index.ts'
import { processors as messages } from './messages/index.ts'
import { processors as payments } from './payments/index.ts'

/** Every processor, one per declared job. */
export const processors: readonly Processor[] = [
  ...channels,
  ...inventory,
  ...jobs,
  ...ledger,
  ...maintenance,
  ...messages,
  ...payments,
]
