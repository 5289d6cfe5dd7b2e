#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sweeps on clusters: what the tasks of a real mpirun or of a real Slurm write, merged, is what one
process writes.

  check.py PROGRAM mpirun    Open MPI's, on this machine (openmpi-bin)
  check.py PROGRAM slurm     slurmctld and slurmd on loopback, for this test alone (slurmctld,
                             slurmd, slurm-client); jobs are those of examples/slurm/sweep.sbatch

Where these are not installed, or their daemons do not start here, the last line is `SKIPPED: why`
and the exit status 77.
"""

import getpass
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "examples" / "slurm" / "sweep.sbatch"
EXPERIMENT = str(ROOT / "examples" / "03-bert-v100" / "experiment.yaml")
AXES = ["--over", "nodes=1..13:+1", "--over", "cluster.inter.bandwidth=10 Gb/s..80 Gb/s:x2"]
SKIPPED = 77
STARTS_WITHIN_SECONDS = 60
ENDS_WITHIN_SECONDS = 240
# Set by what this test itself may run under; a task's place is told by these.
FOREIGN = ("SLURM_", "OMPI_", "PMI_", "PMIX_")


class Skipped(Exception):
    pass


def environment(**more):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    return {**kept, "PAYOFF_PROFILES": str(ROOT / "profiles"), **more}


def run(words, folder, env, ends_within=ENDS_WITHIN_SECONDS):
    done = subprocess.run(words, cwd=folder, env=env, stdin=subprocess.DEVNULL, text=True,
                          capture_output=True, check=False, timeout=ends_within)
    if done.returncode != 0:
        logs = "".join(path.read_text() for path in sorted(Path(folder).glob("*.log")))
        raise AssertionError(f"`{' '.join(words)}` exits with {done.returncode}\n"
                             f"{done.stdout}{done.stderr}{logs}")
    return done.stdout


def rows(program, files, folder):
    """All results of the files, as CSV."""
    return run([program, "merge", *files, "--csv", "-"], folder, environment())


def expected_rows(program, folder):
    run([program, "sweep", EXPERIMENT, *AXES, "-o", "alone.jsonl"], folder, environment())
    return rows(program, ["alone.jsonl"], folder)


def check_shards(program, folder, name, count, expected):
    """There is one file a task, each has results, and together they are those of one process."""
    files = sorted(path.name for path in Path(folder).glob(f"{name}.*-of-*.jsonl"))
    wanted = sorted(f"{name}.{i}-of-{count}.jsonl" for i in range(count))
    assert files == wanted, f"{files}, not {wanted}"
    for file in files:
        lines = (Path(folder) / file).read_text().splitlines()
        assert len(lines) > 1, f"{file} has no result"
    assert rows(program, files, folder) == expected, f"{name}: other results than one process has"
    print(f"{name}: {count} tasks, the same {len(expected.splitlines()) - 1} results")


def check_mpirun(program, folder):
    if shutil.which("mpirun") is None:
        raise Skipped("mpirun (openmpi-bin) is not installed")
    env = environment(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                      OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_plm_rsh_agent="false")
    launch = ["mpirun", "--oversubscribe", "-n", "3"]
    try:
        run([*launch, "true"], folder, env)
    except AssertionError as error:
        raise Skipped(f"mpirun runs nothing here: {str(error).splitlines()[-1]}") from error
    expected = expected_rows(program, folder)
    run([*launch, program, "sweep", EXPERIMENT, *AXES, "-o", "mpi.jsonl"], folder, env)
    check_shards(program, folder, "mpi", 3, expected)


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class Slurm:
    """One node of four processors, of which the machine need have none to spare. No cgroups, no
    munge: nobody but this test talks to these daemons."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.daemons = []
        host = socket.gethostname().split(".")[0]
        control, node = free_ports(2)
        (self.folder / "state").mkdir(parents=True)
        (self.folder / "spool").mkdir()
        user = getpass.getuser()
        settings = {
            "ClusterName": "test", "SlurmctldHost": f"{host}(127.0.0.1)",
            "SlurmUser": user, "SlurmdUser": user,
            "SlurmctldPort": control, "SlurmdPort": node,
            "AuthType": "auth/none", "CredType": "cred/none",
            "StateSaveLocation": self.folder / "state", "SlurmdSpoolDir": self.folder / "spool",
            "SlurmctldPidFile": self.folder / "slurmctld.pid",
            "SlurmdPidFile": self.folder / "slurmd.pid",
            "ProctrackType": "proctrack/linuxproc", "TaskPlugin": "task/none",
            "JobAcctGatherType": "jobacct_gather/none", "SwitchType": "switch/none",
            "SelectType": "select/cons_tres", "SelectTypeParameters": "CR_CPU",
            "MpiDefault": "none", "ReturnToService": 2, "SchedulerType": "sched/builtin",
            "SlurmdParameters": "config_overrides",
            "NodeName": f"{host} NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN",
            "PartitionName": f"all Nodes={host} Default=YES MaxTime=INFINITE State=UP",
        }
        self.conf = self.folder / "slurm.conf"
        self.conf.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
        self.env = environment(SLURM_CONF=str(self.conf))

    def __enter__(self):
        for daemon in (["slurmctld", "-D", "-c"], ["slurmd", "-D", "-c"]):
            program = shutil.which(daemon[0], path=os.environ["PATH"] + ":/usr/sbin:/sbin")
            log = (self.folder / f"{daemon[0]}.out").open("w")
            self.daemons.append(subprocess.Popen([program, *daemon[1:]], env=self.env,
                                                 stdin=subprocess.DEVNULL, stdout=log,
                                                 stderr=subprocess.STDOUT))
            log.close()
        try:
            self.wait_until_idle()
        except Skipped:
            self.__exit__()
            raise
        return self

    def wait_until_idle(self):
        end = time.monotonic() + STARTS_WITHIN_SECONDS
        said = ""
        while time.monotonic() < end and all(each.poll() is None for each in self.daemons):
            # The client itself may wait long for a daemon that is not there yet.
            state = subprocess.run(["timeout", "10", "sinfo", "-h", "-o", "%T"], env=self.env,
                                   capture_output=True, text=True, check=False)
            said = (state.stdout + state.stderr).strip()
            if state.stdout.strip() == "idle":
                return
            time.sleep(0.2)
        outputs = "".join(path.read_text() for path in sorted(self.folder.glob("*.out")))
        errors = [line for line in outputs.splitlines() if "error" in line or "fatal" in line]
        why = errors[-1] if errors else said or "no answer"
        raise Skipped(f"Slurm's daemons do not start here: {why}")

    def __exit__(self, *_):
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in self.daemons:
            try:
                daemon.wait(30)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()


def submit(slurm, program, folder, options, results):
    """examples/slurm/sweep.sbatch, with these options; waits for its tasks."""
    return run(["sbatch", "--wait", *options, str(SCRIPT), EXPERIMENT, results, *AXES], folder,
               {**slurm.env, "PAYOFF": program})


def check_slurm(program, folder):
    missing = [tool for tool in ("slurmctld", "slurmd", "sbatch", "srun", "sinfo")
               if shutil.which(tool, path=os.environ["PATH"] + ":/usr/sbin:/sbin") is None]
    if missing:
        raise Skipped(f"{', '.join(missing)} (slurmctld, slurmd, slurm-client) not installed")
    with Slurm(Path(folder) / "slurm") as slurm:
        expected = expected_rows(program, folder)
        submit(slurm, program, folder, ["--array=0-2"], "array.jsonl")
        check_shards(program, folder, "array", 3, expected)
        submit(slurm, program, folder, ["--array=5-9:4", "--ntasks=2"], "both.jsonl")
        check_shards(program, folder, "both", 4, expected)
        run(["srun", "-n", "2", program, "sweep", EXPERIMENT, *AXES, "-o", "step.jsonl"], folder,
            slurm.env)
        check_shards(program, folder, "step", 2, expected)

        # A task that was killed in the middle of a line: the same submission again completes it.
        cut = Path(folder) / "array.1-of-3.jsonl"
        text = cut.read_bytes()
        cut.write_bytes(text[:len(text) // 2])
        submit(slurm, program, folder, ["--array=0-2"], "array.jsonl")
        assert cut.read_bytes() == text, "a resumed task has other bytes"
        check_shards(program, folder, "array", 3, expected)


def main():
    program, cluster = str(Path(sys.argv[1]).resolve()), sys.argv[2]
    with tempfile.TemporaryDirectory() as folder:
        try:
            {"mpirun": check_mpirun, "slurm": check_slurm}[cluster](program, folder)
        except Skipped as why:
            print(f"SKIPPED: {why}")
            return SKIPPED
        except (AssertionError, subprocess.TimeoutExpired) as failure:
            print(failure)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
