import { Worker } from 'node:worker_threads'
import { unavailable } from '../../config/errors.ts'

export type Parameters = { memoryCost: number; timeCost: number; parallelism: number }
/** A text to hash, or to compare with the hash `against`. */
export type Task = { text: string; against: string | null; parameters: Parameters }
type Answer = { id: number; result: string | boolean } | { id: number; problem: string }
type Caller = { resolve: (result: string | boolean) => void; reject: (why: Error) => void }
type Thread = { worker: Worker; callers: Map<number, Caller> }

const died = () => unavailable('The password could not be looked at; try again')

/**
 * Threads of the lowest priority that hash, so that neither the loop nor libuv's four threads do: started when first needed, and no reason for
 * a process to stay. Whoever waits for one that dies is told 503, and the next who asks gets another.
 */
export const hashingThreads = (most: number, file = new URL('./hashing-thread.js', import.meta.url)) => {
  const threads: Thread[] = []
  let lastId = 0

  const start = (): Thread => {
    // No loaders and no heap to speak of: what it needs lies outside of V8.
    const worker = new Worker(file, { execArgv: [], resourceLimits: { maxOldGenerationSizeMb: 32 } })
    const thread: Thread = { worker, callers: new Map() }
    worker.on('message', (answer: Answer) => {
      const caller = thread.callers.get(answer.id)
      thread.callers.delete(answer.id)
      if (thread.callers.size === 0) worker.unref()
      if ('result' in answer) caller?.resolve(answer.result)
      else caller?.reject(new Error(answer.problem))
    })
    const end = () => {
      const at = threads.indexOf(thread)
      if (at !== -1) threads.splice(at, 1)
      for (const { reject } of thread.callers.values()) reject(died())
      thread.callers.clear()
    }
    worker.on('error', end)
    worker.on('exit', end)
    threads.push(thread)
    return thread
  }

  const idlest = () => threads.reduce<Thread | null>((a, b) => (a && a.callers.size <= b.callers.size ? a : b), null)

  return (task: Task): Promise<string | boolean> =>
    new Promise((resolve, reject) => {
      const found = idlest()
      const thread = found && (found.callers.size === 0 || threads.length >= most) ? found : start()
      const id = (lastId += 1)
      if (thread.callers.size === 0) thread.worker.ref()
      thread.callers.set(id, { resolve, reject })
      thread.worker.postMessage({ id, ...task })
    })
}
