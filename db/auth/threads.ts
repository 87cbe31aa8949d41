import { Worker } from 'node:worker_threads'
import { unavailable } from '../../config/errors.ts'

type Answer<Result> = { id: number; result: Result } | { id: number; problem: string }
type Caller<Result> = { resolve: (result: Result) => void; reject: (why: Error) => void }
type Thread<Result> = { worker: Worker; callers: Map<number, Caller<Result>>; idle?: NodeJS.Timeout }

type Options = {
  /** The greatest number of them. */
  most: number
  /** JavaScript, since a thread is started without the loaders of its process. */
  file: URL
  /** Limit of V8's heap, in MB. */
  heapMb: number
  /** Idle time after which the thread ends and frees its memory; it stays if left out. */
  idleMs?: number
}

const died = () => unavailable('The password could not be looked at; try again')

/**
 * Threads for work that would hold up the loop: started when first needed, and no reason for a process to stay. Callers of a thread that dies
 * get 503, and the next call starts another.
 */
export const threads = <Task extends object, Result>({ most, file, heapMb, idleMs }: Options) => {
  const started: Thread<Result>[] = []
  let lastId = 0

  const rest = (thread: Thread<Result>) => {
    thread.worker.unref()
    if (idleMs !== undefined) thread.idle = setTimeout(() => void thread.worker.terminate(), idleMs).unref()
  }

  const start = (): Thread<Result> => {
    const worker = new Worker(file, { execArgv: [], resourceLimits: { maxOldGenerationSizeMb: heapMb } })
    const thread: Thread<Result> = { worker, callers: new Map() }
    worker.on('message', (answer: Answer<Result>) => {
      const caller = thread.callers.get(answer.id)
      thread.callers.delete(answer.id)
      if (thread.callers.size === 0) rest(thread)
      if ('result' in answer) caller?.resolve(answer.result)
      else caller?.reject(new Error(answer.problem))
    })
    const end = () => {
      const at = started.indexOf(thread)
      if (at !== -1) started.splice(at, 1)
      for (const { reject } of thread.callers.values()) reject(died())
      thread.callers.clear()
    }
    worker.on('error', end)
    worker.on('exit', end)
    started.push(thread)
    return thread
  }

  const idlest = () =>
    started.reduce<Thread<Result> | null>((a, b) => (a && a.callers.size <= b.callers.size ? a : b), null)

  return (task: Task): Promise<Result> =>
    new Promise((resolve, reject) => {
      const found = idlest()
      const thread = found && (found.callers.size === 0 || started.length >= most) ? found : start()
      const id = (lastId += 1)
      clearTimeout(thread.idle)
      if (thread.callers.size === 0) thread.worker.ref()
      thread.callers.set(id, { resolve, reject })
      thread.worker.postMessage({ id, ...task })
    })
}
