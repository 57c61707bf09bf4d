"""The program's own weather: time, chance, tasks, threads and processes."""
