# Captures the denoising step with the step's own noise level, replays it, and goes on.
import torch

net = torch.nn.Sequential(torch.nn.Conv2d(4, 16, 3, padding=1), torch.nn.SiLU(), torch.nn.Conv2d(16, 4, 3, padding=1)).cuda()
latent = torch.randn(1, 4, 32, 32, device="cuda")
sigma_now = torch.zeros((), device="cuda")
pool = torch.cuda.graph_pool_handle()


def denoise(sigma):
    latent.sub_(net(latent / (sigma + 1)) * sigma)


@torch.inference_mode()
def sample(sigmas):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, pool=pool):
        denoise(sigma_now)
    for sigma in sigmas:
        sigma_now.fill_(sigma)
        graph.replay()
    torch.cuda.synchronize()


with torch.inference_mode():
    denoise(0.1)
    torch.cuda.synchronize()
sample([1.0 - i / 30 for i in range(30)])
print("sampled", latent.shape)
